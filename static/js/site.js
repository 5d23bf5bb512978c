// Enhancements only: every page works without this file.

const announcer = document.getElementById("announcer");

function say(text) {
  announcer.textContent = text;
}

// A copy button beside every line that is meant to be pasted somewhere.
function addCopyButtons(root) {
  for (const box of root.querySelectorAll(".copyable:not(:has(> .copy))")) {
    const source = box.querySelector("pre, code");
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.setAttribute("aria-label", `Copy ${source.dataset.what ?? "these lines"}`);
    button.addEventListener("click", () => copy(source, button));
    box.append(button);
  }
}

async function copy(source, button) {
  try {
    await navigator.clipboard.writeText(source.dataset.copy ?? source.textContent.trim());
    button.textContent = "Copied";
    say("Copied");
  } catch {
    getSelection().selectAllChildren(source);
    button.textContent = "Selected";
    say("Copying is not allowed here; the text is selected");
  }
  setTimeout(() => (button.textContent = "Copy"), 2000);
}

// A swap changes the address, so a theme change has to come back to the one in the bar.
document.addEventListener("submit", (event) => {
  if (event.target.matches("form[data-stay]")) {
    event.target.elements.next.value = location.pathname + location.search;
  }
});

// Menus close on Escape and on a click elsewhere.
function closeMenus(except) {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (menu !== except) menu.open = false;
  }
}

document.addEventListener("click", (event) => closeMenus(event.target.closest("details.menu")));
document.addEventListener("keydown", (event) => {
  const menu = event.key === "Escape" && document.activeElement?.closest("details.menu[open]");
  if (menu) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});

// Rows whose details are open stay so when a swap brings the table anew.
let openRows = [];
document.addEventListener("htmx:beforeSwap", () => {
  const open = document.querySelectorAll("tbody[id] .row-toggle[open]");
  openRows = Array.from(open, (toggle) => toggle.closest("tbody").id);
});
document.addEventListener("htmx:afterSwap", () => {
  for (const id of openRows) {
    const toggle = document.getElementById(id)?.querySelector(".row-toggle");
    if (toggle) toggle.open = true;
  }
});

document.addEventListener("htmx:beforeRequest", (event) => {
  event.detail.target.setAttribute("aria-busy", "true");
});
document.addEventListener("htmx:afterRequest", (event) => {
  if (event.detail.failed) {
    event.detail.target.removeAttribute("aria-busy");
    say("The page could not be loaded. Try again.");
  }
});
document.addEventListener("htmx:afterSettle", () => {
  addCopyButtons(document);
  say(document.querySelector("[data-announce]")?.textContent ?? "");
});

addCopyButtons(document);
