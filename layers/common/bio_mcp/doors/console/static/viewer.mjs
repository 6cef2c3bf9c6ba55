// A page of a document's PDF, drawn by pdf.js, with a quotation marked in it.
const sheet = document.getElementById("pdf"), state = document.getElementById("pdf-state");
const NARROWEST = 600, WIDEST = 920; // pixels of a page: a narrow screen scrolls it
const STEP = 1 << 20; // bytes that are asked for at once

// Letters and digits alone, so that hyphenation, ligatures and spaces make no difference.
const plain = text => text.normalize("NFKC").toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");

async function part(begin, end) {
  const answer = await fetch(sheet.dataset.file, { headers: { range: `bytes=${begin}-${end - 1}` } });
  if (answer.status !== 206) throw new Error("the server did not give it");
  return { size: Number(answer.headers.get("content-range").split("/")[1]), bytes: new Uint8Array(await answer.arrayBuffer()) };
}

async function opened() {
  const pdfjs = await import(sheet.dataset.reader);
  pdfjs.GlobalWorkerOptions.workerSrc = sheet.dataset.worker;
  const first = await part(0, STEP);
  class Parts extends pdfjs.PDFDataRangeTransport {
    async requestDataRange(begin, end) {
      for (let at = begin; at < end; at += STEP) {
        const { bytes } = await part(at, Math.min(end, at + STEP));
        this.onDataRange(at, bytes);
      }
    }
  }
  const range = new Parts(first.size, first.bytes, first.bytes.length >= first.size);
  const file = await pdfjs.getDocument({ range, length: first.size, rangeChunkSize: STEP, disableAutoFetch: true, disableStream: true, useWasm: false, wasmUrl: "/static/", enableXfa: false }).promise;
  return { pdfjs, file };
}

async function drawn(pdfjs, page) {
  const natural = page.getViewport({ scale: 1 });
  const width = Math.max(Math.min(sheet.parentElement.clientWidth - 2, WIDEST), NARROWEST), viewport = page.getViewport({ scale: width / natural.width });
  const canvas = document.createElement("canvas"), dense = window.devicePixelRatio || 1;
  canvas.width = Math.floor(viewport.width * dense);
  canvas.height = Math.floor(viewport.height * dense);
  canvas.setAttribute("aria-hidden", "true");
  const text = document.createElement("div");
  text.className = "textLayer";
  sheet.replaceChildren(canvas, text);
  sheet.style.setProperty("--total-scale-factor", String(viewport.scale));
  sheet.style.setProperty("--scale-factor", String(viewport.scale));
  sheet.style.height = `${viewport.height}px`;
  sheet.style.width = `${viewport.width}px`;
  await page.render({ canvas, viewport, transform: dense === 1 ? null : [dense, 0, 0, dense, 0, 0] }).promise;
  const layer = new pdfjs.TextLayer({ textContentSource: await page.getTextContent(), container: text, viewport });
  await layer.render();
  return layer.textDivs;
}

// Where each counted character of the page stands: the element, and the place in its text.
function characters(elements) {
  const places = [];
  let letters = "";
  for (const element of elements) {
    const node = element.firstChild;
    if (node?.nodeType !== Node.TEXT_NODE) continue;
    let at = 0;
    for (const character of node.data) {
      const counted = plain(character);
      for (const letter of counted) places.push([element, at, character.length]);
      letters += counted;
      at += character.length;
    }
  }
  return { letters, places };
}

// The parts of the page that are the quotation; of one that is not there as a whole, those sentences that are.
function found(letters, quote) {
  const whole = plain(quote), at = whole ? letters.indexOf(whole) : -1;
  if (at >= 0) return [[at, at + whole.length]];
  const spans = [];
  for (const sentence of quote.split(/(?<=[.!?])\s+|\s*\[…\]\s*|…/)) {
    const sought = plain(sentence), start = sought.length >= 24 ? letters.indexOf(sought) : -1;
    if (start >= 0) spans.push([start, start + sought.length]);
  }
  return spans.length ? spans : longest(letters, whole);
}

// The beginning or end of a quotation that goes on over another page.
function longest(letters, whole) {
  for (let length = whole.length - 1; length >= 24; length--) {
    if (letters.endsWith(whole.slice(0, length))) return [[letters.length - length, letters.length]];
    const end = whole.slice(whole.length - length);
    const at = letters.indexOf(end);
    if (at >= 0 && at < 400) return [[at, at + length]];
  }
  return [];
}

function mark(places, spans) {
  const wanted = new Map();
  for (const [start, end] of spans) {
    for (const [element, at, length] of places.slice(start, end)) {
      const range = wanted.get(element) ?? [at, at];
      wanted.set(element, [Math.min(range[0], at), Math.max(range[1], at + length)]);
    }
  }
  const marks = [];
  for (const [element, [start, end]] of wanted) {
    const text = element.firstChild.data, marked = document.createElement("mark");
    marked.textContent = text.slice(start, end);
    element.replaceChildren(text.slice(0, start), marked, text.slice(end));
    marks.push(marked);
  }
  return marks;
}

// The words of a quotation on a page that is an image, each in a box.
async function boxed(number) {
  const answer = await fetch(`${sheet.dataset.words}?${new URLSearchParams({ page: number, quote: sheet.dataset.quote })}`);
  if (!answer.ok) return [];
  const { words } = await answer.json();
  return words.map(({ text, box: [left, top, right, bottom] }) => {
    const marked = document.createElement("mark");
    marked.textContent = `${text} `;
    marked.className = "box";
    Object.assign(marked.style, { left: `${100 * left}%`, top: `${100 * top}%`, width: `${100 * (right - left)}%`, height: `${100 * (bottom - top)}%` });
    return marked;
  });
}

async function show() {
  const { pdfjs, file } = await opened();
  const quote = sheet.dataset.quote, asked = Number(sheet.dataset.page);
  const tried = quote ? [asked, asked + 1] : [asked];
  let number = Math.min(asked, file.numPages), elements = [], text, spans = [], marks = [];
  for (const each of tried) {
    if (each > file.numPages) break;
    elements = await drawn(pdfjs, await file.getPage(each));
    number = each;
    text = characters(elements);
    spans = quote ? found(text.letters, quote) : [];
    if (spans.length) marks = mark(text.places, spans);
    else if (quote && sheet.dataset.words) {
      state.textContent = "The words of the image are being recognised…";
      marks = await boxed(each);
      sheet.querySelector(".textLayer").append(...marks);
    }
    if (marks.length) break;
  }
  if (quote && !marks.length && number !== asked) {
    number = asked;
    elements = await drawn(pdfjs, await file.getPage(asked));
  }
  document.getElementById("page-title").textContent = `Page ${number} of ${file.numPages}`;
  sheet.dataset.shown = String(number);
  if (marks.length) {
    const [first] = marks;
    first.id = "quote";
    first.tabIndex = -1;
    first.scrollIntoView({ block: "center", inline: "nearest" });
    first.focus({ preventScroll: true });
    state.textContent = `The quotation is marked on page ${number}.`;
  } else {
    state.textContent = quote ? "The quotation is not found on this page; it may stand on another one." : "";
  }
}

if (sheet) {
  sheet.hidden = false;
  state.textContent = "The page is being drawn…";
  show().catch(error => {
    sheet.hidden = true;
    state.className = "problem";
    state.textContent = "The page could not be drawn here. The link above opens the file.";
    console.warn(error);
  });
}
