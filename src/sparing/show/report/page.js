"use strict";
// Links the slider with all views. Every string of the data is set as text, never as markup.

const page = JSON.parse(document.getElementById("contents").textContent);
const { steps, names, samples, labels, charts } = page;
const at = (id) => document.getElementById(id);
const slider = at("features");
const options = { actions: false, renderer: "svg", ast: true, tooltip: { disableDefaultStyle: true } };
const views = {};
const MOST_FOUND = 20;

const componentName = (i) => `component ${i + 1}`;
const scoreName = (i) => componentName(i) + (page.unit && `, in units of ${page.unit}`);
const current = () => steps[slider.valueAsNumber - 1];

// ---- small pieces of document ----

function element(tag, text, attributes = {}) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

function row(head, cells, scope = "row") {
  const made = element("tr");
  made.append(element("th", head, { scope, dir: "auto" }));
  for (const text of cells) {
    const inHead = scope === "col";
    made.append(element(inHead ? "th" : "td", text, inHead ? { scope, dir: "auto" } : { dir: "auto" }));
  }
  return made;
}

function fill(table, caption, head, rows) {
  table.caption.textContent = caption;
  table.tHead.replaceChildren(row(head[0], head.slice(1), "col"));
  table.tBodies[0].replaceChildren(...rows);
}

const counted = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

// ---- numbers of a step ----

function scoresOf(step) {
  const bytes = (text) => Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  step.unpacked ??= step.scores.map((text) => new Float32Array(bytes(text).buffer));
  return step.unpacked;
}

function largestFirst(step) {
  const size = (place) => Math.max(...step.loadings.map((component) => Math.abs(component[place])));
  return step.support.map((_, place) => place).sort((a, b) => size(b) - size(a));
}

function labelOf(i) {
  if (labels === null) return undefined;
  return labels.kind === "groups" ? labels.groups[labels.values[i]] : labels.values[i];
}

// ---- charts ----

const keptRows = () => steps.map(({ scores, loadings, sentence, equations, unpacked, ...numbers }) => ({ ...numbers, pca: 1 }));

function loadingsRows(step) {
  const places = largestFirst(step);
  return step.loadings.flatMap((component, i) =>
    places.map((place, rank) => (
      { component: componentName(i), feature: names[step.support[place]], loading: component[place], rank })));
}

// Which components the scores are drawn along; samples stand in for a component that does not exist.
function axes(step) {
  const across = Math.min(Number(at("across").value), step.scores.length - 1);
  const up = Number(at("up").value);
  return { across, up: up < step.scores.length && up !== across ? up : null };
}

function scoresRows(step) {
  const { across, up } = axes(step);
  const scores = scoresOf(step);
  return samples.map((sample, i) => (
    { sample, label: labelOf(i), x: scores[across][i], y: up === null ? i + 1 : scores[up][i] }));
}

function scoresSpec(step) {
  const { across, up } = axes(step);
  const spec = structuredClone(charts.scores);
  const titles = [scoreName(across), up === null ? "sample, in the order of the data" : scoreName(up)];
  [spec.encoding.x.title, spec.encoding.y.title] = titles;
  if (up === null) spec.encoding.y.axis = { tickMinStep: 1, format: "d" };
  if (labels !== null) {
    Object.assign(spec.encoding, structuredClone(charts[labels.kind]));
    spec.encoding.tooltip.push({ field: "label" });
    if (labels.kind === "scale" && labels.values.includes(null)) spec.encoding.color.title = "label (missing: grey)";
    if (labels.kind === "groups") {
      spec.encoding.color.scale.domain = labels.groups;
      spec.encoding.shape.scale.domain = labels.groups;
      const longest = Math.max(...labels.groups.map((group) => group.length));
      const entry = 40 + 7 * Math.min(longest, 25);
      spec.encoding.color.legend.columns = Math.max(1, Math.floor(at("scores-chart").clientWidth / entry));
    }
  }
  spec.encoding.tooltip.push({ field: "x", title: titles[0], format: ".4~g" });
  if (up !== null) spec.encoding.tooltip.push({ field: "y", title: titles[1], format: ".4~g" });
  const who = counted(samples.length, "sample");
  spec.description = `Scores of ${who} along ${titles.join(" and ")}; the table below has the numbers.`;
  return { key: titles.join(), spec };
}

function keptSpec() {
  const spec = structuredClone(charts.kept);
  spec.encoding.x.scale.domain = [0.5, steps.length + 0.5];
  spec.encoding.x.axis.values = steps.map((step) => step.features);
  spec.description = `What 1 to ${steps.length} features keep of PCA's variance, with its proved band; the table below has the numbers.`;
  return spec;
}

// Long names often begin alike, and often end alike: some of both ends tells more of them apart.
function cutInTheMiddle(width) {
  const most = Math.max(8, Math.floor(width / 7));
  const head = Math.ceil(0.6 * most), tail = most - head - 1;
  const short = `slice(datum.label, 0, ${head}) + '…' + slice(datum.label, -${tail})`;
  return `length(datum.label) > ${most} ? ${short} : datum.label`;
}

function loadingsSpec() {
  const spec = structuredClone(charts.loadings);
  const room = at("loadings-chart").clientWidth;
  const longest = Math.max(...steps.flatMap((step) => step.support.map((j) => names[j].length)));
  const words = Math.min(180, Math.floor(room * 0.35), 8 * longest + 12);
  const each = Math.floor((room - words - 24) / page.components) - 20;
  const beside = each >= 90;  // components beside one another while bars stay legible, else one below the other
  spec.columns = beside ? page.components : 1;
  spec.spec.width = beside ? Math.min(each, 320) : room - words - 24;
  Object.assign(spec.spec.encoding.y.axis, { labelLimit: words - 8, labelExpr: cutInTheMiddle(words - 8) });
  spec.description = "Loadings by feature and component; the table of features below has the numbers.";
  return spec;
}

async function embed(name, spec, data) {
  views[name]?.finalize();
  const { view } = await vegaEmbed(at(`${name}-chart`), { ...spec, config: charts.config, datasets: data }, options);
  views[name] = view;
  return view;
}

// One drawing at a time for each chart; all that changes meanwhile takes one more.
const drawing = {}, waiting = {};
function queued(name, draw) {
  if (waiting[name]) return waiting[name];
  waiting[name] = (drawing[name] ?? Promise.resolve()).then(() => { waiting[name] = undefined; return draw(); });
  drawing[name] = waiting[name];
  return waiting[name];
}

const drawKept = () => queued("kept", async () => {
  if (!views.kept) {
    const view = await embed("kept", keptSpec(), { steps: keptRows() });
    view.addEventListener("click", (_, item) => item?.datum?.features && move(item.datum.features));
  }
  await views.kept.signal("current", slider.valueAsNumber).runAsync();
});

let loadingsWidth = null;
const drawLoadings = () => queued("loadings", async () => {
  const width = at("loadings-chart").clientWidth;
  if (width !== loadingsWidth) await embed("loadings", loadingsSpec(), { loadings: loadingsRows(current()) });
  loadingsWidth = width;
  await views.loadings.signal("wanted", wanted()).data("loadings", loadingsRows(current())).resize().runAsync();
});

let scoresKey = null;
const drawScores = () => queued("scores", async () => {
  const { key, spec } = scoresSpec(current());
  if (key !== scoresKey) await embed("scores", spec, { scores: scoresRows(current()) });
  else await views.scores.data("scores", scoresRows(current())).runAsync();
  scoresKey = key;
});

// ---- text and tables ----

function writeSentence(step) {
  at("sentence").replaceChildren(...step.sentence.map((line) => element("p", line)));
  at("equations").replaceChildren(...step.equations.map((line) => element("li", line, { dir: "auto" })));
}

function writeKept() {
  const head = ["features", "kept of PCA's variance", "at most", "explained of all variance"];
  const rows = steps.map((step) => row(step.features, [step.keptText, step.mostText, step.explainedText]));
  const caption = "What each number of features keeps, and what no choice of that number can pass";
  fill(at("kept-table"), caption, head, rows);
}

function markKept() {
  [...at("kept-table").tBodies[0].rows].forEach((line, i) => {
    if (i + 1 === slider.valueAsNumber) line.setAttribute("aria-current", "true");
    else line.removeAttribute("aria-current");
  });
}

function writeLoadings(step) {
  const rows = largestFirst(step).map((place) => {
    const made = row(names[step.support[place]], step.loadings.map((component) => component[place].toFixed(4)));
    if (wanted() !== "" && matches(names[step.support[place]])) made.setAttribute("aria-current", "true");
    return made;
  });
  const head = ["feature", ...step.loadings.map((_, i) => componentName(i))];
  fill(at("loadings-table"), `Loadings with ${counted(step.features, "feature")}`, head, rows);
}

function writeScores(step) {
  if (!at("scores-details").open) return;  // long, and rarely looked at
  const scores = scoresOf(step);
  const head = ["sample", ...(labels === null ? [] : ["label"]), ...scores.map((_, i) => scoreName(i))];
  const rows = samples.map((sample, i) => {
    const label = labels === null ? [] : [labelOf(i) ?? "missing"];
    return row(sample, [...label, ...scores.map((component) => component[i].toPrecision(4))]);
  });
  fill(at("scores-table"), `Scores with ${counted(step.features, "feature")}`, head, rows);
}

// ---- search ----

const wanted = () => at("search").value.trim().toLowerCase();
const matches = (name) => name.toLowerCase().includes(wanted());

// "3, 5 to 8": the numbers of features with which a feature is chosen.
function whenUsed(feature) {
  const used = steps.filter((step) => step.support.includes(feature)).map((step) => step.features);
  const runs = [];
  for (const number of used) {
    if (runs.length && runs.at(-1)[1] === number - 1) runs.at(-1)[1] = number;
    else runs.push([number, number]);
  }
  return runs.map(([first, last]) => (first === last ? `${first}` : `${first} to ${last}`)).join(", ");
}

function search() {
  const found = wanted() === "" ? [] : Object.keys(names).filter((j) => matches(names[j])).map(Number);
  const lines = found.slice(0, MOST_FOUND).map((j) => {
    const when = whenUsed(j);
    const line = element("li", undefined, { dir: "auto" });
    const most = counted(steps.length, "feature");
    const said = when ? `: chosen with ${when} of ${most}` : `: not chosen with up to ${most}`;
    line.append(element("bdi", names[j]), said);
    return line;
  });
  const list = element("ul");
  list.append(...lines);
  const few = Object.keys(names).length < page.shape[1] ? " among those ever chosen" : "";
  const more = found.length > MOST_FOUND ? `; the first ${MOST_FOUND} are shown` : "";
  const said = element("p", `${counted(found.length, "feature")} found${few}${more}.`);
  at("found").replaceChildren(...(wanted() === "" ? [] : [said, list]));
  writeLoadings(current());
  drawLoadings();
}

// ---- download ----

// Quotes doubled; what a spreadsheet would run as a formula starts with an apostrophe, which shows as text.
function cell(text) {
  const plain = text.replace(/^\u2068|\u2069$/g, "");
  const guarded = /^[=+\-@\t\r]/.test(plain) ? `'${plain}` : plain;
  return `"${guarded.replaceAll('"', '""')}"`;
}

function loadingsCsv(step) {
  const head = ["feature", ...step.loadings.map((_, i) => componentName(i))].map(cell);
  const rows = largestFirst(step).map((place) =>
    [cell(names[step.support[place]]), ...step.loadings.map((component) => component[place])]);
  return [head, ...rows].map((line) => line.join(",")).join("\r\n") + "\r\n";
}

function download() {
  const mark = "\ufeff";  // tells spreadsheets that this is UTF-8
  const link = element("a", undefined, { download: `loadings-${slider.value}-features.csv` });
  link.href = URL.createObjectURL(new Blob([mark, loadingsCsv(current())], { type: "text/csv;charset=utf-8" }));
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// ---- all together ----

let announcing;
function announce(step) {
  clearTimeout(announcing);  // when the slider rests: not every number on the way
  announcing = setTimeout(() => { at("announced").textContent = step.sentence.join(" "); }, 600);
}

function show() {
  const step = current();
  at("count").textContent = step.features;
  slider.setAttribute("aria-valuetext", `${counted(step.features, "feature")}. ${step.sentence[0]}`);
  writeSentence(step);
  writeLoadings(step);
  writeScores(step);
  markKept();
  return Promise.all([drawKept(), drawLoadings(), drawScores()]);
}

function move(number) {
  slider.value = number;
  announce(current());
  return show();
}

function prepareAxes() {
  for (const [id, chosen] of [["across", 0], ["up", 1]]) {
    for (let i = 0; i < page.components; i++) at(id).append(element("option", componentName(i), { value: i }));
    at(id).value = Math.min(chosen, page.components - 1);
    at(id).addEventListener("change", () => drawScores());
  }
  at("axes").hidden = page.components < 3;
}

slider.max = steps.length;
slider.value = page.start;
prepareAxes();
writeKept();
slider.addEventListener("input", () => move(slider.valueAsNumber));
at("search").addEventListener("input", search);
at("download").addEventListener("click", download);
at("scores-details").addEventListener("toggle", () => writeScores(current()));
new ResizeObserver(() => drawLoadings()).observe(at("loadings-chart"));
show().then(() => { document.body.dataset.ready = "yes"; });
