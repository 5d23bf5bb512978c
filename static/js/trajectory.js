// Keys and folding for trajectories. Everything here can be reached by links too.

const STORE = "single-keys";
const steps = () => [...document.querySelectorAll(".step")];

function keysAreOn() {
  try {
    return localStorage.getItem(STORE) !== "off";
  } catch {
    return true;
  }
}

function current() {
  const focused = document.activeElement?.closest(".step");
  return focused ?? document.querySelector(".step[aria-current]") ?? document.querySelector(".step:target");
}

function show(step) {
  for (const other of document.querySelectorAll(".step[aria-current], .outline a[aria-current]")) {
    other.removeAttribute("aria-current");
  }
  step.setAttribute("aria-current", "true");
  const row = document.querySelector(`.outline a[href="#${step.id}"]`);
  row?.setAttribute("aria-current", "true");
  row?.scrollIntoView({ block: "nearest" });
  step.scrollIntoView({ block: "start" });
  step.focus({ preventScroll: true });
}

// `way` is 1 or -1. Beyond the ends of the page it leaves for the next one.
function move(way) {
  const all = steps();
  const at = all.indexOf(current());
  const next = at < 0 ? (way > 0 ? all[0] : undefined) : all[at + way];
  const box = document.querySelector(".steps");
  if (next && all.length > 1) show(next);
  else if (way > 0 && box?.dataset.after) location.assign(box.dataset.after);
  else if (way < 0 && box?.dataset.before) location.assign(box.dataset.before);
}

// What was found where there is a search, errors otherwise; those of other pages too.
function jump(way) {
  const here = Number(current()?.dataset.step ?? 0);
  const hits = [...document.querySelectorAll("[data-hit-step]")];
  const isSearch = document.getElementById("found") !== null;
  const targets = isSearch
    ? hits.map((link) => ({ number: Number(link.dataset.hitStep), link }))
    : steps()
        .filter((step) => "error" in step.dataset)
        .map((step) => ({ number: Number(step.dataset.step), link: null }));
  const ahead = targets.filter(({ number }) => (way > 0 ? number > here : here && number < here));
  const next = way > 0 ? ahead[0] : ahead.at(-1);
  const there = next && document.getElementById(`step-${next.number}`);
  if (there) show(there);
  else if (next?.link) location.assign(next.link.href);
  else if (!isSearch) leaveForError(way, here);
}

function leaveForError(way, here) {
  const link = document.querySelector(`[data-go="${way > 0 ? "next" : "previous"}-error"]`);
  if (!link) return;
  const address = new URL(link.href);
  const all = steps();
  const edge = way > 0 ? all.at(-1) : all[0];
  if (edge) address.searchParams.set("step", edge.dataset.step);
  else if (here) address.searchParams.set("step", String(here));
  location.assign(address);
}

function bodies() {
  return [...document.querySelectorAll(".step-body")];
}

function foldAll(how) {
  for (const body of bodies()) {
    body.open = how !== "all";
    for (const inner of body.querySelectorAll("details.fold")) {
      inner.open = how === "none";
    }
  }
}

// The links say the same in their address, which is kept in step.
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-fold]");
  if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey && event.button === 0) {
    event.preventDefault();
    const address = new URL(link.href);
    foldAll(address.searchParams.get("fold") ?? "");
    for (const other of document.querySelectorAll("a[data-fold]")) other.removeAttribute("aria-current");
    link.setAttribute("aria-current", "true");
    const here = new URL(location.href);
    const fold = address.searchParams.get("fold");
    if (fold) here.searchParams.set("fold", fold);
    else here.searchParams.delete("fold");
    history.replaceState(history.state, "", here);
    return;
  }
  if (event.target.closest("#keys-button")) openKeys();
  const target = event.target.closest(".outline a[href^='#step-']");
  if (target) unfoldTarget(target.hash);
});

// A step that is linked to is not left folded.
function unfoldTarget(hash) {
  const step = /^#step-\d+$/.test(hash) && document.getElementById(hash.slice(1));
  if (step) step.querySelector(".step-body").open = true;
}

function openKeys() {
  const dialog = document.getElementById("keys");
  if (!dialog || dialog.open) return;
  document.getElementById("keys-on").checked = keysAreOn();
  dialog.showModal();
}

document.addEventListener("change", (event) => {
  if (event.target.id !== "keys-on") return;
  try {
    localStorage.setItem(STORE, event.target.checked ? "on" : "off");
  } catch {
    // without storage they stay as they are
  }
});

const KEYS = {
  j: () => move(1),
  k: () => move(-1),
  n: () => jump(1),
  p: () => jump(-1),
  f: () => {
    const body = current()?.querySelector(".step-body");
    if (body) body.open = !body.open;
  },
  F: () => foldAll(bodies().some((body) => body.open) ? "all" : ""),
  "/": () => document.getElementById("find")?.focus(),
  "?": openKeys,
};

document.addEventListener("keydown", (event) => {
  const act = Object.hasOwn(KEYS, event.key) && KEYS[event.key];
  if (!act || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.target.closest("input, textarea, select, [contenteditable], dialog")) return;
  if (!keysAreOn()) return;
  event.preventDefault();
  act();
});

// What is searched for stands out in the steps too, where a browser can do that without touching them.
function highlight() {
  CSS.highlights?.clear();
  const words = document.querySelector("#found q")?.textContent.toLowerCase();
  if (!words || !CSS.highlights) return;
  const found = new Highlight();
  for (const block of document.querySelectorAll(".block pre")) {
    const text = block.firstChild;
    const lower = text?.data?.toLowerCase() ?? "";
    if (lower.length !== text?.data?.length) continue;
    for (let at = lower.indexOf(words); at >= 0; at = lower.indexOf(words, at + words.length)) {
      const range = new Range();
      range.setStart(text, at);
      range.setEnd(text, at + words.length);
      found.add(range);
      if (found.size > 2000) break;
    }
  }
  CSS.highlights.set("found", found);
}

function begin() {
  const button = document.getElementById("keys-button");
  if (button) button.hidden = false;
  const outline = document.querySelector("details.outline");
  const isShown = CSS.supports("selector(::details-content)");
  if (outline && !isShown && matchMedia("(min-width: 62.01rem)").matches) outline.open = true;
  unfoldTarget(location.hash);
  if (!location.hash) document.querySelector(".step[aria-current]")?.scrollIntoView();
  highlight();
}

document.addEventListener("htmx:afterSettle", begin);
addEventListener("hashchange", () => unfoldTarget(location.hash));
begin();
