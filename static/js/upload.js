// Sends a file or a folder in parts that the server checks, and goes on where an earlier try stopped.
// Without this file the form sends one archive.

const form = document.getElementById("upload");
const drop = document.getElementById("drop");
const transfer = document.getElementById("transfer");
const bar = document.getElementById("transfer-progress");
const said = document.getElementById("upload-error");
const announcer = document.getElementById("announcer");
const token = form.elements.csrfmiddlewaretoken.value;
const TRIES = 6;
let current = null; // the upload under way: { request, cancelled, cancelHref }

class Refused extends Error {}

// What of a folder an import reads ---------------------------------------------------------------------

const STORE = ".plural";
const COLLECTIONS = new Set(["agents", "benchmarks", "environments", "harnesses", "tasks", "verifiers"]);
const LEFT_OUT = new Set([".git", "__pycache__", ".venv", "node_modules"]);

// Whether a folder may hold something: `path` leads to it, from the folder that was given.
function worthALook(path) {
  const names = path.split("/");
  if (names.some((name) => name.startsWith("job_"))) return true;
  const last = names.at(-1);
  if (names.at(-2) === STORE) return last === "jobs";
  return last === STORE || !(LEFT_OUT.has(last) || last.startsWith("."));
}

// Folders that are Jobs by what is in them, whatever they are called.
function jobFolders(paths) {
  const all = new Set(paths);
  const found = paths.filter((path) => /(^|\/)lock\.json$/.test(path)).map((path) => path.replace(/lock\.json$/, ""));
  return found.filter((folder) => all.has(`${folder}config.json`));
}

function isWanted(path, jobs) {
  const names = path.split("/");
  const folders = names.slice(0, -1);
  if (folders.some((name) => name.startsWith("job_"))) return true;
  if (jobs.some((folder) => path.startsWith(folder))) return true;
  if (folders.includes(STORE)) return false; // its Jobs are taken already
  if (folders.some((name) => LEFT_OUT.has(name))) return false;
  if (names.at(-1) === "project.yaml") return true;
  return folders.some((name) => COLLECTIONS.has(name)) && names.at(-1) !== ".DS_Store";
}

function wanted(files) {
  const jobs = jobFolders(files.map((entry) => entry.path));
  return files.filter((entry) => isWanted(entry.path, jobs));
}

// A tar of files, as one Blob that reads them only when it is read itself -----------------------------------

const encoder = new TextEncoder();

function header(name, size, seconds, kind) {
  const block = new Uint8Array(512);
  const put = (text, at) => block.set(encoder.encode(text), at);
  const octal = (value, digits) => value.toString(8).padStart(digits, "0");
  block.set(name.slice(0, 100), 0);
  put(octal(0o644, 7), 100);
  put(octal(0, 7), 108);
  put(octal(0, 7), 116);
  put(size < 8 ** 11 ? octal(size, 11) : octal(0, 11), 124); // a larger one stands in the pax record
  put(octal(seconds, 11), 136);
  put("        ", 148);
  put(kind, 156);
  put("ustar\0" + "00", 257);
  put(`${octal(block.reduce((sum, byte) => sum + byte, 0), 6)}\0 `, 148);
  return block;
}

function record(key, value) {
  const rest = encoder.encode(` ${key}=${value}\n`).length;
  let length = rest;
  while (String(length).length + rest !== length) length = String(length).length + rest;
  return `${length} ${key}=${value}\n`;
}

const padding = (size) => new Uint8Array((512 - (size % 512)) % 512);

function tar(entries) {
  const pieces = [];
  for (const { path, file } of entries) {
    const name = encoder.encode(path);
    const seconds = Math.max(0, Math.floor(file.lastModified / 1000));
    if (name.length > 100 || name.length !== path.length || file.size >= 8 ** 11) {
      const pax = encoder.encode(record("path", path) + record("size", file.size));
      pieces.push(header(encoder.encode("pax"), pax.length, seconds, "x"), pax, padding(pax.length));
    }
    pieces.push(header(name, file.size, seconds, "0"), file, padding(file.size));
  }
  pieces.push(new Uint8Array(1024));
  return new Blob(pieces);
}

// SHA-256: the browser's own where it has one, which needs https or this very machine ------------------------

async function sha256(buffer) {
  const digest = crypto.subtle ? new Uint8Array(await crypto.subtle.digest("SHA-256", buffer)) : ownSha256(buffer);
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

const ROOTS = (() => {
  const primes = [];
  for (let n = 2; primes.length < 64; n++) if (primes.every((prime) => n % prime)) primes.push(n);
  const fraction = (value) => Math.floor((value - Math.floor(value)) * 2 ** 32) | 0;
  return { constants: primes.map((p) => fraction(Math.cbrt(p))), start: primes.slice(0, 8).map((p) => fraction(Math.sqrt(p))) };
})();

function ownSha256(buffer) {
  const length = buffer.byteLength;
  const bytes = new Uint8Array(((length + 72) >> 6) << 6);
  bytes.set(new Uint8Array(buffer));
  bytes[length] = 0x80;
  const view = new DataView(bytes.buffer);
  view.setUint32(bytes.length - 8, Math.floor(length / 2 ** 29));
  view.setUint32(bytes.length - 4, length << 3);
  const state = Int32Array.from(ROOTS.start);
  const w = new Int32Array(64);
  const turn = (x, n) => (x >>> n) | (x << (32 - n));
  for (let at = 0; at < bytes.length; at += 64) {
    for (let i = 0; i < 16; i++) w[i] = view.getInt32(at + 4 * i);
    for (let i = 16; i < 64; i++) {
      const s0 = turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ (w[i - 15] >>> 3);
      const s1 = turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ (w[i - 2] >>> 10);
      w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let i = 0; i < 64; i++) {
      const s1 = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25);
      const one = (h + s1 + ((e & f) ^ (~e & g)) + ROOTS.constants[i] + w[i]) | 0;
      const s0 = turn(a, 2) ^ turn(a, 13) ^ turn(a, 22);
      const two = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((value, i) => (state[i] += value));
  }
  const digest = new DataView(new ArrayBuffer(32));
  state.forEach((value, i) => digest.setInt32(4 * i, value));
  return new Uint8Array(digest.buffer);
}

// What was given -----------------------------------------------------------------------------------------

async function filesBelow(entry, path) {
  if (entry.isFile) {
    const file = await new Promise((done, failed) => entry.file(done, failed));
    return [{ path, file }];
  }
  const reader = entry.createReader();
  const found = [];
  for (;;) {
    const batch = await new Promise((done, failed) => reader.readEntries(done, failed));
    if (!batch.length) return found;
    for (const inner of batch) {
      const below = `${path}/${inner.name}`;
      if (inner.isFile || worthALook(below)) found.push(...(await filesBelow(inner, below)));
    }
  }
}

async function sendFolder(name, files) {
  const entries = wanted(files).sort((a, b) => (a.path < b.path ? -1 : 1));
  if (!entries.length) {
    throw new Refused(`“${name}” holds nothing that an import reads: choose a project, its .plural/jobs, or one Job’s folder.`);
  }
  const list = entries.map(({ path, file }) => [path, file.size, file.lastModified]);
  await send(`${name}.tar`, tar(entries), list, `${name}, ${entries.length.toLocaleString("en")} files`);
}

const sendFile = (file) => send(file.name, file, [[file.name, file.size, file.lastModified]], file.name);

// Sending ------------------------------------------------------------------------------------------------

async function send(name, blob, list, shown) {
  const limit = Number(form.dataset.limit);
  if (blob.size > limit) throw new Refused(`${shown} has ${bytes(blob.size)}; at most ${bytes(limit)} are taken here.`);
  const fingerprint = await sha256(encoder.encode(JSON.stringify(list)).buffer);
  const body = new URLSearchParams({ name, size: blob.size, fingerprint, csrfmiddlewaretoken: token });
  const begun = await ask(form.dataset.begin, body, {}, () => {});
  current.cancelHref = begun.cancel_href;
  document.getElementById("transfer-what").textContent = shown;
  const meter = new Meter(blob.size, begun.first * begun.part_size);
  for (let number = begun.first; number * begun.part_size < blob.size; number++) {
    const start = number * begun.part_size;
    const part = blob.slice(start, start + begun.part_size);
    const digest = await sha256(await part.arrayBuffer());
    const headers = { "Content-Type": "application/octet-stream", "X-Part-SHA256": digest, "X-CSRFToken": token };
    // The part itself, not the bytes that were read of it: copying those would hold the page up.
    await persistently(() => ask(begun.parts_href + number, part, headers, (sent) => meter.show(start + sent)));
    meter.show(start + part.size);
  }
  location.assign(begun.href);
}

async function persistently(act) {
  for (let tried = 1; ; tried++) {
    try {
      return await act();
    } catch (error) {
      if (error instanceof Refused || current.cancelled || tried === TRIES) throw error;
      document.getElementById("transfer-text").textContent = "The connection broke; trying again …";
      await new Promise((done) => setTimeout(done, 500 * 2 ** tried));
    }
  }
}

function ask(href, body, headers, onSent) {
  return new Promise((done, failed) => {
    const request = new XMLHttpRequest();
    current.request = request;
    request.open("POST", href);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.addEventListener("progress", (event) => onSent(event.loaded));
    request.addEventListener("error", () => failed(new Error("The connection broke.")));
    request.addEventListener("abort", () => failed(new Error("Cancelled.")));
    request.addEventListener("load", () => {
      const isJson = request.getResponseHeader("Content-Type")?.startsWith("application/json");
      const answer = isJson ? JSON.parse(request.responseText) : null;
      if (request.status === 200 && answer) done(answer);
      else if (answer?.error) failed(new Refused(answer.error));
      else if (request.status >= 500) failed(new Error("The server could not answer."));
      else if (request.status === 200) failed(new Refused("You are signed out. Sign in and choose the same again to go on."));
      else failed(new Refused(`The server refused it (${request.status}). Load this page again, then choose the same again.`));
    });
    request.send(body);
  });
}

const UNITS = ["B", "kB", "MB", "GB", "TB"];

function bytes(size) {
  let unit = 0;
  for (; size >= 999.95 && unit < UNITS.length - 1; unit++) size /= 1000;
  return `${unit ? size.toFixed(1) : size}\u00a0${UNITS[unit]}`;
}

function duration(seconds) {
  if (seconds < 60) return `${Math.ceil(seconds)}\u00a0s`;
  if (seconds < 5400) return `${Math.ceil(seconds / 60)}\u00a0min`;
  return `${(seconds / 3600).toFixed(1)}\u00a0h`;
}

// Bytes, rate over the last ten seconds, time left.
class Meter {
  constructor(size, sent) {
    this.size = size;
    this.seen = [[performance.now(), sent]];
    this.show(sent);
  }

  show(sent) {
    const now = performance.now();
    this.seen.push([now, sent]);
    while (this.seen.length > 2 && now - this.seen[0][0] > 10000) this.seen.shift();
    const [then, before] = this.seen[0];
    const rate = now - then > 500 ? ((sent - before) * 1000) / (now - then) : 0;
    const left = rate > 0 ? `, ${bytes(rate)}/s, ${duration((this.size - sent) / rate)} left` : "";
    bar.max = this.size;
    bar.value = Math.min(sent, this.size);
    document.getElementById("transfer-text").textContent = `${bytes(Math.min(sent, this.size))} of ${bytes(this.size)}${left}`;
  }
}

async function run(act) {
  if (current) return;
  current = { request: null, cancelled: false, cancelHref: "" };
  said.hidden = true;
  form.hidden = true;
  transfer.hidden = false;
  bar.removeAttribute("value");
  document.getElementById("transfer-text").textContent = "Looking at the files …";
  announcer.textContent = "Uploading";
  try {
    await act();
  } catch (error) {
    if (current.cancelled) return; // the button loads the page anew
    const gone = error.name === "NotReadableError" || error.name === "NotFoundError";
    stop(gone ? "A file changed or went away while it was read. Choose it again." : error.message);
  }
}

function stop(message) {
  current = null;
  transfer.hidden = true;
  form.hidden = false;
  form.reset();
  said.textContent = message;
  said.hidden = false;
}

// What people do -----------------------------------------------------------------------------------------

document.getElementById("folder-field").hidden = false;
document.getElementById("send").hidden = true;

document.getElementById("archive").addEventListener("change", (event) => {
  const [file] = event.target.files;
  if (file) run(() => sendFile(file));
});

document.getElementById("folder").addEventListener("change", (event) => {
  const files = Array.from(event.target.files, (file) => ({ path: file.webkitRelativePath, file }));
  if (files.length) run(() => sendFolder(files[0].path.split("/")[0], files));
});

document.getElementById("transfer-cancel").addEventListener("click", async () => {
  if (!current) return;
  const href = current.cancelHref;
  current.cancelled = true;
  current.request?.abort();
  if (href) await fetch(href, { method: "POST", body: new URLSearchParams({ csrfmiddlewaretoken: token }) });
  location.reload();
});

for (const kind of ["dragenter", "dragover"]) {
  document.addEventListener(kind, (event) => {
    event.preventDefault();
    drop.classList.add("over");
  });
}
document.addEventListener("dragleave", (event) => {
  if (!event.relatedTarget) drop.classList.remove("over");
});
document.addEventListener("drop", (event) => {
  event.preventDefault();
  drop.classList.remove("over");
  const entries = Array.from(event.dataTransfer.items, (item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.length) return;
  run(async () => {
    if (entries.length === 1 && entries[0].isFile) {
      const [{ file }] = await filesBelow(entries[0], entries[0].name);
      return sendFile(file);
    }
    const found = await Promise.all(entries.map((entry) => filesBelow(entry, entry.name)));
    return sendFolder(entries[0].name, found.flat());
  });
});
