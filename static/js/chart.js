// Draws the chart of a leaderboard when it comes into view. The table below it holds the same figures.

const NEAR = "200px";
const LEAST_TICK = 62; // pixels
const MARK = 7; // half of a mark's width, with some air
const AIR = 2;
const LINE = 17; // height of a label
const CONFIG = { displayModeBar: false, responsive: false, doubleClick: false, showTips: false };

const figures = new Map(); // from a drawn box to its figure
let library;

function load(source) {
  library ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = source;
    script.addEventListener("load", () => resolve(window.Plotly));
    script.addEventListener("error", () => {
      library = undefined;
      script.remove();
      reject(new Error("The chart library did not load."));
    });
    document.head.append(script);
  });
  return library;
}

function note(box, text) {
  const place = box.parentElement.querySelector("[data-plot-note]");
  place.textContent = text;
  place.hidden = !text;
}

async function draw(box) {
  box.setAttribute("aria-busy", "true");
  try {
    const [response] = await Promise.all([fetch(box.dataset.figure), load(box.dataset.library)]);
    if (!response.ok) throw new Error(`The figure came with status ${response.status}.`);
    const figure = await response.json();
    if (!box.isConnected) return;
    figures.set(box, figure);
    resized.observe(box); // which also draws it
  } catch {
    box.hidden = true;
    note(box, "The chart could not be loaded. The table holds the same figures.");
  } finally {
    box.removeAttribute("aria-busy");
  }
}

function render(box) {
  const style = getComputedStyle(box);
  const probe = document.createElement("span");
  box.after(probe);
  const { data, layout } = coloured(structuredClone(figures.get(box)), probe);
  probe.remove();
  layout.width = Math.floor(box.clientWidth);
  layout.font.family = style.fontFamily;
  if (layout.width <= layout.margin.l + layout.margin.r) return;
  thinTicks(layout);
  const left = placeLabels(data, layout, `13px ${style.fontFamily}`);
  const names = left === 1 ? "1 name has" : `${left} names have`;
  note(box, left ? `${names} no room beside their marks; the table has them all.` : "");
  window.Plotly.react(box, data, layout, CONFIG);
}

// Custom properties in the figure become the colours of the theme.
function coloured(value, probe) {
  if (typeof value === "string" && value.startsWith("var(--")) {
    probe.style.color = value;
    return getComputedStyle(probe).color;
  }
  if (Array.isArray(value)) return value.map((item) => coloured(item, probe));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, coloured(item, probe)]));
}

function thinTicks({ width, margin, xaxis }) {
  const room = Math.max(Math.floor((width - margin.l - margin.r) / LEAST_TICK), 2);
  const step = Math.ceil(xaxis.tickvals.length / room);
  const kept = (_, place) => place % step === 0;
  xaxis.tickvals = xaxis.tickvals.filter(kept);
  xaxis.ticktext = xaxis.ticktext.filter(kept);
}

// Each label takes the best free place around its mark, further away with a line to it where it must.
// Those that find none are left out; returns how many.
function placeLabels(data, layout, font) {
  const { width, height, margin, xaxis, yaxis } = layout;
  const plot = { width: width - margin.l - margin.r, height: height - margin.t - margin.b };
  const along = ([from, to], value) => (value - from) / (to - from);
  const across = (value) => along(xaxis.range, value) * plot.width;
  const down = (value) => (1 - along(yaxis.range, value)) * plot.height;
  const onAxis = xaxis.type === "log" ? Math.log10 : (value) => value;
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = font;

  const marks = [];
  const lines = []; // which labels should rather not cross, but may
  for (const trace of data.filter((found) => found.mode === "markers")) {
    trace.x.forEach((value, place) => {
      const [x, y] = [across(onAxis(value)), down(trace.y[place])];
      marks.push(rectangle(x - MARK, y - MARK, 2 * MARK, 2 * MARK));
      const { array, arrayminus } = trace.error_y;
      if (array[place] !== null && arrayminus[place] !== null) {
        const top = down(trace.y[place] + array[place]);
        lines.push(rectangle(x - 1, top, 2, down(trace.y[place] - arrayminus[place]) - top));
      }
    });
  }
  const frontier = data.find((found) => found.mode === "lines");
  for (let step = 1; frontier && step < frontier.x.length; step += 1) {
    const [x0, x1] = [step - 1, step].map((place) => across(onAxis(frontier.x[place])));
    const [y0, y1] = [step - 1, step].map((place) => down(frontier.y[place]));
    lines.push(rectangle(x0, y0 - 1, x1 - x0, 2), rectangle(x1 - 1, Math.min(y0, y1), 2, Math.abs(y1 - y0)));
  }
  for (const shape of layout.shapes ?? []) lines.push(rectangle(0, down(shape.y0) - 1, plot.width, 2));

  const taken = [];
  const kept = [];
  let left = 0;
  for (const label of layout.annotations) {
    const size = { width: pen.measureText(plain(label.text)).width + 4, height: LINE };
    const x = label.name === "floor" ? 0 : across(label.x);
    const y = down(label.y);
    let best;
    for (const place of label.name === "floor" ? floorPlaces(y, size, plot) : places(x, y, size, plot.width > 400)) {
      const inside =
        place.x >= 0 && place.y >= 0 && place.x + place.width <= plot.width && place.y + place.height <= plot.height;
      if (!inside || taken.some((other) => meet(place, other)) || marks.some((other) => meet(place, other))) continue;
      const cost = place.cost + lines.filter((other) => meet(place, other)).length * 3;
      if (!best || cost < best.cost) best = { ...place, cost };
    }
    if (!best) {
      left += 1;
      continue;
    }
    taken.push(best);
    kept.push(placed(label, best, x, y));
  }
  layout.annotations = kept;
  return left;
}

// Below right first, as a reader expects it, then around and away.
function* places(x, y, { width, height }, isWide) {
  for (const [ring, away] of [1, 18, 34, ...(isWide ? [52, 72] : [])].entries()) {
    for (const [turn, [right, lower]] of [[1, 1], [1, -1], [-1, 1], [-1, -1]].entries()) {
      for (const [shift, side] of (ring ? [away * 0.8, away / 3] : [MARK + AIR]).entries()) {
        yield {
          x: right > 0 ? x + side : x - side - width,
          y: lower > 0 ? y + away : y - away - height,
          width,
          height,
          cost: ring * 4 + turn + shift * 0.5,
          isFar: ring > 0,
          right,
          lower,
        };
      }
    }
  }
}

function* floorPlaces(y, size, plot) {
  for (const top of [y - 1 - size.height, y + 2]) {
    for (const x of [0, plot.width - size.width]) yield { ...size, x, y: top, cost: 0, isFar: false, right: 1, lower: 1 };
  }
}

function placed(label, { x: left, y: top, width, height, isFar, right, lower }, x, y) {
  const middle = { xanchor: right > 0 ? "left" : "right", yanchor: lower > 0 ? "top" : "bottom" };
  const corner = { x: right > 0 ? left : left + width, y: lower > 0 ? top : top + height };
  const shift = { x: corner.x - x, y: corner.y - y };
  if (!isFar) return { ...label, ...middle, xshift: shift.x, yshift: -shift.y, borderpad: 0 };
  const { xshift, yshift, ...rest } = label;
  return {
    ...rest,
    ...middle,
    showarrow: true,
    arrowhead: 0,
    arrowwidth: 1,
    arrowcolor: label.font.color,
    opacity: 0.95,
    ax: shift.x,
    ay: shift.y,
    standoff: 5,
    borderpad: 0,
  };
}

function rectangle(x, y, width, height) {
  return { x, y, width, height };
}

function meet(one, other) {
  return (
    one.x < other.x + other.width + AIR &&
    other.x < one.x + one.width + AIR &&
    one.y < other.y + other.height &&
    other.y < one.y + one.height
  );
}

function plain(text) {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}

const seen = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      seen.unobserve(target);
      draw(target);
    }
  },
  { rootMargin: NEAR },
);

const resized = new ResizeObserver((entries) => {
  for (const { target } of entries) if (target.isConnected) render(target);
});

// After a swap the board has a new box, and the old one is gone.
function look() {
  for (const box of figures.keys()) {
    if (box.isConnected) continue;
    resized.unobserve(box);
    window.Plotly.purge(box);
    figures.delete(box);
  }
  for (const box of document.querySelectorAll("[data-figure]")) if (!figures.has(box)) seen.observe(box);
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const box of figures.keys()) render(box);
});
document.addEventListener("htmx:afterSettle", look);
look();
