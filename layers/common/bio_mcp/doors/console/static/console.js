// What the pages do beyond links and forms: a paper beside the list, the number of selected papers, failures said where one looks.
"use strict";
const wide = window.matchMedia("(min-width: 64rem)");
const say = text => { document.getElementById("status").textContent = text; };

document.addEventListener("htmx:beforeRequest", event => {
  document.getElementById("failed")?.remove();
  const asking = event.detail.elt;
  if (asking.dataset.beside !== undefined && !wide.matches) {
    event.preventDefault();
    window.location.href = asking.href;
  }
  const text = asking.dataset.working ?? (asking.dataset.beside === undefined ? "" : "Opening the paper…");
  setTimeout(() => { if (text && asking.classList.contains("htmx-request")) say(text); }, 200);
});
document.addEventListener("htmx:afterSwap", event => {
  if (event.detail.target.id !== "beside") return;
  const beside = event.detail.target, open = event.detail.requestConfig.elt;
  beside.closest(".results").classList.add("with-paper");
  document.querySelectorAll(".hit[aria-current]").forEach(each => each.removeAttribute("aria-current"));
  open.closest(".hit")?.setAttribute("aria-current", "true");
  const close = document.createElement("button");
  Object.assign(close, { type: "button", className: "quiet close", textContent: "Close" });
  close.addEventListener("click", () => {
    beside.replaceChildren();
    beside.closest(".results").classList.remove("with-paper");
    open.closest(".hit")?.removeAttribute("aria-current");
    open.focus();
  });
  beside.prepend(close);
  beside.scrollTop = 0;
  beside.querySelector("h1").tabIndex = -1;
  if (!readQuote()) beside.querySelector("h1").focus();
});
function readQuote() {
  const quote = document.getElementById("quote");
  quote?.scrollIntoView({ block: "center" });
  quote?.focus({ preventScroll: true });
  return quote;
}
readQuote();

let said = "";
document.addEventListener("htmx:afterSettle", () => {
  const text = document.querySelector("[data-say]")?.dataset.say;
  if (text && text !== said) say(said = text);
});

const menu = document.querySelector(".menu");
document.addEventListener("click", event => { if (menu?.open && !menu.contains(event.target)) menu.open = false; });
document.addEventListener("keydown", event => {
  if (event.key !== "Escape" || !menu?.open) return;
  menu.open = false;
  menu.firstElementChild.focus();
});

function failed(event, text) {
  const box = document.createElement("p");
  Object.assign(box, { id: "failed", className: "problem" });
  box.setAttribute("role", "alert");
  event.target.closest("form, section, main")?.append(box);
  box.textContent = text;
}
document.addEventListener("htmx:sendError", event => failed(event, "The server did not answer. Check your connection and try again."));
document.addEventListener("htmx:timeout", event => failed(event, "The server took too long. Try again."));

document.addEventListener("submit", event => {
  const form = event.target, text = event.submitter?.dataset.working ?? form.dataset.working;
  if (!text) return;
  form.setAttribute("aria-busy", "true");
  setTimeout(() => say(text), 200);
});
window.addEventListener("pageshow", () => document.querySelectorAll("form[aria-busy]").forEach(each => each.removeAttribute("aria-busy")));

document.addEventListener("formdata", event => {
  if (event.target.method === "get") [...event.formData].forEach(([name, text]) => text || event.formData.delete(name));
});

function count() {
  const shown = document.querySelector("[data-selected]");
  const selected = document.querySelectorAll("input[name=pmid]:checked").length;
  if (shown) shown.textContent = selected ? `${selected} selected` : "";
}
document.addEventListener("change", event => event.target.name === "pmid" && count());
window.addEventListener("pageshow", count);

document.querySelectorAll("[data-drop]").forEach(field => {
  const file = field.form.querySelector("input[type=file]");
  field.addEventListener("dragover", event => { event.preventDefault(); field.classList.add("over"); });
  field.addEventListener("dragleave", () => field.classList.remove("over"));
  field.addEventListener("drop", event => {
    field.classList.remove("over");
    if (!event.dataTransfer.files.length) return;
    event.preventDefault();
    file.files = event.dataTransfer.files;
    say(`${file.files[0].name} is chosen.`);
  });
});

// One key decides about a paper, unless something is typed or the person has switched keys off.
const keys = document.querySelector("[data-keys]");
if (keys) {
  keys.closest("label").hidden = false;
  keys.checked = localStorage.getItem("keys") !== "off";
  keys.addEventListener("change", () => localStorage.setItem("keys", keys.checked ? "on" : "off"));
  document.addEventListener("keydown", event => {
    if (!keys.checked || event.altKey || event.ctrlKey || event.metaKey || event.repeat) return;
    if (event.target.matches("input:not([type=checkbox]), select, textarea") || document.querySelector("form[aria-busy]")) return;
    const of = document.querySelector(`[data-key="${CSS.escape(event.key.toLowerCase())}"]`);
    if (!of) return;
    event.preventDefault();
    if (of.tagName === "INPUT") of.focus(); else of.click();
  });
}
