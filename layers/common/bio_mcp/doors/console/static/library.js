// Files of a project: dropped on the form, and sent part by part, so that none is too large for one request.
"use strict";
const form = document.getElementById("add");
if (form) {
  const field = form.querySelector("input[type=file]"), sending = document.getElementById("sending");
  const part = Number(form.dataset.part), largest = Number(form.dataset.largest), most = Number(form.dataset.most);
  const megabytes = bytes => (bytes / 1048576).toFixed(bytes < 1048576 ? 1 : 0);
  form.querySelector(".with-scripts").hidden = false;

  form.addEventListener("dragover", event => { event.preventDefault(); form.classList.add("over"); });
  form.addEventListener("dragleave", event => { if (!form.contains(event.relatedTarget)) form.classList.remove("over"); });
  form.addEventListener("drop", event => {
    event.preventDefault();
    form.classList.remove("over");
    if (!event.dataTransfer.files.length) return;
    field.files = event.dataTransfer.files;
    form.requestSubmit();
  });

  async function sent(file, line) {
    const keys = [];
    for (let at = 0; at < file.size; at += part) {
      line.textContent = `${file.name}: ${megabytes(at)} of ${megabytes(file.size)} MB sent`;
      const answer = await fetch(form.dataset.parts, { method: "POST", body: file.slice(at, at + part), headers: { "content-type": "application/octet-stream" } });
      const text = await answer.text();
      if (!answer.ok) throw new Error(answer.headers.get("content-type")?.startsWith("text/plain") ? text : "The server refused it.");
      keys.push(text);
    }
    line.textContent = `${file.name} is sent`;
    return keys;
  }

  form.addEventListener("submit", async event => {
    event.preventDefault();
    const files = [...field.files], problems = [], rest = document.createElement("form");
    Object.assign(rest, { method: "post", action: form.action, hidden: true });
    sending.replaceChildren();
    if (files.length > most) problems.push(`${files.length} files are more than the ${most} that are added at once.`);
    for (const file of problems.length ? [] : files) {
      const line = document.createElement("span");
      sending.append(line, document.createElement("br"));
      if (!file.size || file.size > largest * 1048576) {
        problems.push(file.size ? `${file.name} is larger than ${largest} MB.` : `${file.name} is empty.`);
        continue;
      }
      try {
        const keys = await sent(file, line);
        for (const [name, value] of [["name", file.name], ["parts", keys.join(" ")]]) {
          const input = document.createElement("input");
          Object.assign(input, { type: "hidden", name, value });
          rest.append(input);
        }
      } catch (error) {
        problems.push(`${file.name} was not sent: ${error instanceof TypeError ? "the server did not answer." : error.message}`);
      }
    }
    if (problems.length) {
      form.removeAttribute("aria-busy");
      const box = document.createElement("div");
      box.className = "problem";
      box.setAttribute("role", "alert");
      box.append(...problems.map(text => Object.assign(document.createElement("p"), { textContent: text })));
      sending.replaceChildren(box);
      if (!rest.children.length) return;
      const others = document.createElement("button");
      Object.assign(others, { type: "button", className: "plain", textContent: `Add the other ${rest.children.length / 2}` });
      others.addEventListener("click", () => { document.body.append(rest); rest.submit(); });
      sending.append(others);
      return;
    }
    document.body.append(rest);
    rest.submit();
  });
}
