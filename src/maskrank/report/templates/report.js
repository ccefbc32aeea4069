"use strict";
// Everything a user named is put into the page as text, never as HTML.
const ROWS_AT_ONCE = 20;

async function unpacked(element) {
  const bytes = Uint8Array.from(atob(element.textContent.trim()), (c) => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

function download(name, kind, content) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type: kind }));
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// An SVG as PNG, twice as large; nothing is asked from outside.
async function painted(svg) {
  const image = new Image();
  image.src = "data:image/svg+xml;base64," + btoa(Array.from(new TextEncoder().encode(svg), (byte) => String.fromCharCode(byte)).join(""));
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = 2 * image.naturalWidth;
  canvas.height = 2 * image.naturalHeight;
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

// A table or picture that is wider than the page says so, and can be scrolled by the keyboard.
function scrollHint(box) {
  const hint = document.createElement("p");
  hint.className = "hint only-screen";
  hint.textContent = "Scroll sideways to see all of it \u2192";
  box.before(hint);
  const update = () => {
    const wider = box.scrollWidth > box.clientWidth + 1;
    hint.hidden = !wider;
    box.classList.toggle("wider", wider);
    if (wider) {
      box.tabIndex = 0;
      box.setAttribute("role", "region");
      box.setAttribute("aria-label", `${box.dataset.label}: scrolls sideways`);
    } else for (const name of ["tabindex", "role", "aria-label"]) box.removeAttribute(name);
  };
  new ResizeObserver(update).observe(box);
  box.addEventListener("scroll", () => { hint.style.visibility = box.scrollLeft > 8 ? "hidden" : ""; }, { passive: true });
  update();
}

function cell(text, kind) {
  const td = document.createElement("td");
  td.className = kind;
  td.textContent = text;
  return td;
}

function decimals(value, digits) {
  return value.toFixed(digits).replace("-", "−");
}

function signed(value) {
  const text = Math.abs(value).toFixed(5);
  return (Number(text) === 0 ? "" : value < 0 ? "−" : "+") + text;
}

// The unit that people read: measured scores in per cent of what all chosen features explain, as 0 where that is nothing.
function shown(answer, score) {
  if (!answer.scores_std) return signed(score);
  return (answer.explained > 1e-9 ? (100 * score) / answer.explained : 0).toFixed(1);
}

function featureTable(box, answer) {
  const rank = new Map(answer.selected.map((name, place) => [name, place + 1]));
  const unselected = answer.selected.length + 1;
  const features = Object.keys(answer.scores).map((name) => ({
    name, rank: rank.get(name) ?? unselected, score: answer.scores[name], evidence: answer.evidence?.[name] ?? 0,
    raw: answer.raw_scores[name], folded: name.toLowerCase(),
  }));
  const body = box.querySelector("tbody"), count = box.querySelector(".count"), more = box.querySelector(".more");
  const search = box.querySelector("input"), heads = [...box.querySelectorAll("th[data-key]")];
  const hasEvidence = heads.some((head) => head.dataset.key === "evidence");
  let found = features, limit = ROWS_AT_ONCE, key = "rank", direction = 1;

  function draw() {
    const rows = found.slice(0, limit).map((feature) => {
      const row = document.createElement("tr");
      row.append(
        cell(feature.rank < unselected ? feature.rank : "", "number"), cell(feature.name, "name"),
        cell(shown(answer, feature.score), "number"), ...(hasEvidence ? [cell(decimals(feature.evidence, 2), "number")] : []),
        cell(signed(feature.raw), "number"),
      );
      return row;
    });
    body.replaceChildren(...rows);
    count.textContent = `${rows.length.toLocaleString("en")} of ${found.length.toLocaleString("en")} shown`;
    more.hidden = found.length <= limit;
    for (const head of heads) head.setAttribute("aria-sort", head.dataset.key === key ? (direction > 0 ? "ascending" : "descending") : "none");
  }
  function sort() {
    const by = (a, b) => (a[key] < b[key] ? -1 : a[key] > b[key] ? 1 : 0) * direction || (hasEvidence ? b.evidence - a.evidence : 0) || b.raw - a.raw;
    features.sort(by);
    filter();
  }
  function filter() {
    const wanted = search.value.toLowerCase();
    found = features.filter((feature) => feature.folded.includes(wanted));
    limit = ROWS_AT_ONCE;
    draw();
  }
  for (const head of heads) head.querySelector("button").addEventListener("click", () => {
    direction = head.dataset.key === key ? -direction : head.dataset.key === "rank" || head.dataset.key === "name" ? 1 : -1;
    key = head.dataset.key;
    sort();
  });
  search.addEventListener("input", filter);
  more.addEventListener("click", () => { limit += 100; draw(); });
  sort();
}

function topBars(section) {
  const choice = section.querySelector("select.top");
  if (!choice) return;
  const rows = [...section.querySelectorAll(".bars tbody tr")];
  const apply = () => rows.forEach((row, place) => { row.hidden = place >= Number(choice.value); });
  choice.addEventListener("change", apply);
  apply();
}

async function start() {
  for (const section of document.querySelectorAll("section")) {
    topBars(section);
    for (const button of section.querySelectorAll("button[data-packed]")) {
      const source = document.getElementById(button.dataset.packed);
      button.addEventListener("click", async () => {
        const text = await unpacked(source);
        download(button.dataset.name, button.dataset.kind, button.dataset.kind === "image/png" ? await painted(text) : text);
      });
    }
    const box = section.querySelector(".all-features");
    if (box) featureTable(box, JSON.parse(await unpacked(document.getElementById(box.dataset.packed))));
  }
  for (const element of document.querySelectorAll(".needs-script")) element.hidden = false;
  document.querySelectorAll(".wide").forEach(scrollHint);
  document.documentElement.dataset.ready = "yes";
}
let opened = [];
window.addEventListener("beforeprint", () => { opened = [...document.querySelectorAll("details:not([open])")]; opened.forEach((d) => { d.open = true; }); });
window.addEventListener("afterprint", () => opened.forEach((d) => { d.open = false; }));
start();
