"use strict";
// Links the slider with all views. Every string of the data is set as text, never as markup.

const page = JSON.parse(document.getElementById("contents").textContent);
const { steps, names, samples, labels, charts, pca, values, predicted, suggestions, source } = page;
const at = (id) => document.getElementById(id);
const slider = at("features");
const options = { actions: false, renderer: "svg", ast: true, tooltip: { disableDefaultStyle: true } };
const views = {};
const MOST_FOUND = 20, MOST_BARS = 40, EACH_END = 5, FRAMES = 8, LONG_EQUATION = 160, NARROWEST_LABEL = 15;
const still = matchMedia("(prefers-reduced-motion: reduce)");
const pinned = new Set(), banned = new Set();

const componentName = (i) => `component ${i + 1}`;
const scoreName = (i) => componentName(i) + (page.unit && `, in units of ${page.unit}`);
const current = () => steps[slider.valueAsNumber - 1];
const counted = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;
const percentKept = (share) => `${(Math.floor(share * 1000 + 1e-9) / 10).toFixed(1)}%`;

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
  for (const content of cells) {
    const inHead = scope === "col";
    const cell = element(inHead ? "th" : "td", undefined, inHead ? { scope, dir: "auto" } : { dir: "auto" });
    cell.append(content);
    made.append(cell);
  }
  return made;
}

function fill(table, caption, head, rows) {
  table.caption.textContent = caption;
  table.tHead.replaceChildren(row(head[0], head.slice(1), "col"));
  table.tBodies[0].replaceChildren(...rows);
}

// ---- numbers ----

const bytes = (text) => Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0)).buffer;
const floats = (text) => new Float32Array(bytes(text));

function scoresOf(step) {
  step.unpacked ??= step.scores.map(floats);
  return step.unpacked;
}

function r2Of(step) {
  step.unpackedR2 ??= new Uint16Array(bytes(step.r2));
  return step.unpackedR2;
}

function deviation(column) {
  let sum = 0, squares = 0;
  for (const value of column) { sum += value; squares += value * value; }
  return Math.sqrt(Math.max(squares / column.length - (sum / column.length) ** 2, 0)) || 1;
}

// Scores in standard deviations: charts of any number of features, and PCA's, have the same axes.
const inDeviations = (columns) => columns.map((column) => {
  const unit = deviation(column);
  return Float32Array.from(column, (value) => value / unit);
});
const drawnScores = (step) => (step.drawn ??= inDeviations(scoresOf(step)));
const pcaScores = inDeviations(pca.scores.map(floats));

function largestFirst(step) {
  const size = (place) => Math.max(...step.loadings.map((component) => Math.abs(component[place])));
  return step.support.map((_, place) => place).sort((a, b) => size(b) - size(a));
}

// ---- colours ----

let colouring = null;  // {kind, values, groups, title} of the samples drawn
function chooseColour() {
  const chosen = at("colour").value;
  if (chosen === "label") colouring = { ...labels, title: "label" };
  else if (chosen === "") colouring = null;
  else colouring = { kind: "scale", values: [...floats(values[chosen])], title: names[chosen] };
}

function labelOf(i, by = colouring) {
  if (by === null) return undefined;
  return by.kind === "groups" ? by.groups[by.values[i]] : by.values[i];
}

function prepareColours() {
  const select = at("colour");
  if (labels !== null) select.append(element("option", "label", { value: "label" }));
  select.append(element("option", "none", { value: "" }));
  for (const feature of Object.keys(values)) select.append(element("option", names[feature], { value: feature }));
  select.addEventListener("change", () => { chooseColour(); remember(); drawScores(); });
}

// ---- charts ----

const isHeld = steps.some((step) => step.held !== undefined);
const keptRows = () => steps.map(({ features, kept, most, held, heldSe, keptText, mostText, heldText, explainedText }) => (
  { features, kept, most, held, keptText, mostText, explainedText,
    heldText: held === undefined ? "not computed" : heldText || "nothing transfers",
    heldLow: held - heldSe, heldHigh: held + heldSe,
    reason: suggestions.find((one) => one.features === features)?.reason ?? "" }));

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

function scoresRows(scores, exact, { across, up }) {
  return samples.map((sample, i) => ({
    i, sample, label: labelOf(i), x: scores[across][i], y: up === null ? i + 1 : scores[up][i],
    score: exact[across][i], second: up === null ? null : exact[up][i],
  }));
}

let extents;
function extentOf(component) {
  extents ??= [...Array(page.components).keys()].map((i) => {
    let low = 0, high = 0;
    for (const scores of [pcaScores, ...steps.map(drawnScores)]) {
      for (const value of scores[i] ?? []) { low = Math.min(low, value); high = Math.max(high, value); }
    }
    return [1.03 * low, 1.03 * high];
  });
  return extents[component];
}

function scoresSpec(step, name) {
  const { across, up } = axes(step);
  const spec = structuredClone(charts.scores);
  const titles = [componentName(across), up === null ? "sample, in the order of the data" : componentName(up)];
  spec.encoding.x.title = `${titles[0]}, in standard deviations`;
  spec.encoding.y.title = titles[1];
  spec.encoding.x.scale = { domain: extentOf(across), nice: false };
  spec.encoding.y.scale = up === null ? { zero: false } : { domain: extentOf(up), nice: false };
  if (up === null) spec.encoding.y.axis = { tickMinStep: 1, format: "d" };
  if (colouring !== null) {
    Object.assign(spec.encoding, structuredClone(charts[colouring.kind]));
    spec.encoding.tooltip.push({ field: "label", title: colouring.title });
    if (colouring.kind === "scale") {
      const missing = colouring.values.includes(null) ? " (missing: grey)" : "";
      spec.encoding.color.title = colouring.title + missing;
    } else {
      spec.encoding.color.scale.domain = colouring.groups;
      spec.encoding.shape.scale.domain = colouring.groups;
      const longest = Math.max(...colouring.groups.map((group) => group.length));
      const entry = 40 + 7 * Math.min(longest, 25);
      spec.encoding.color.legend.columns = Math.max(1, Math.floor(at("scores-chart").clientWidth / entry));
    }
  }
  spec.encoding.tooltip.push({ field: "score", title: scoreName(across), format: ".4~g" });
  if (up !== null) spec.encoding.tooltip.push({ field: "second", title: scoreName(up), format: ".4~g" });
  const who = counted(samples.length, "sample");
  spec.description = `${name} scores of ${who} along ${titles.join(" and ")}; the table below has the numbers.`;
  return { key: JSON.stringify([titles, at("colour").value]), spec };
}

function keptSpec() {
  const spec = structuredClone(charts.kept);
  spec.encoding.x.scale.domain = [0.5, steps.length + 0.5];
  spec.encoding.x.axis.values = steps.map((step) => step.features);
  const rows = keptRows(), known = rows.filter((one) => one.held !== undefined);
  const low = Math.min(...rows.map((one) => one.kept), ...known.map((one) => one.heldLow));
  const high = Math.max(1, ...known.map((one) => one.heldHigh));
  spec.encoding.y.scale.domain = [Math.max(low, 0), Math.min(high, 1.2)];  // without samples that transfer, far below
  const isNarrow = at("kept-chart").clientWidth < NARROWEST_LABEL * (steps.length + 4);  // the buttons below say the same
  spec.layer = spec.layer.filter((layer) => !(isNarrow && layer.mark.type === "text"));
  spec.description = `What 1 to ${steps.length} features keep of PCA's variance, with its proved upper bound; the table below has the numbers.`;
  return spec;
}

// Long names often begin alike, and often end alike: some of both ends tells more of them apart.
function cutInTheMiddle(width) {
  const most = Math.max(8, Math.floor(width / 7));
  const head = Math.ceil(0.6 * most), tail = most - head - 1;
  const short = `slice(datum.label, 0, ${head}) + '…' + slice(datum.label, -${tail})`;
  return `length(datum.label) > ${most} ? ${short} : datum.label`;
}

const longestName = (features) => Math.max(...features.map((j) => names[j].length));

function nameAxis(axis, room, longest) {
  const words = Math.min(180, Math.floor(room * 0.35), 8 * longest + 12);
  Object.assign(axis, { labelLimit: words - 8, labelExpr: cutInTheMiddle(words - 8) });
  return words;
}

function loadingsSpec() {
  const spec = structuredClone(charts.loadings);
  const room = at("loadings-chart").clientWidth;
  const words = nameAxis(spec.spec.encoding.y.axis, room, longestName(steps.flatMap((step) => step.support)));
  const each = Math.floor((room - words - 24) / page.components) - 20;
  const beside = each >= 90;  // components beside one another while bars stay legible, else one below the other
  spec.columns = beside ? page.components : 1;
  spec.spec.width = beside ? Math.min(each, 320) : room - words - 24;
  spec.description = "Loadings by feature and component; the table below has the numbers.";
  return spec;
}

function r2Rows(step) {
  const chosen = new Set(step.support), r2 = r2Of(step);
  return predicted.map((j, place) => ({ feature: names[j], r2: r2[place] / 1000, chosen: chosen.has(j) }))
    .sort((a, b) => b.r2 - a.r2)
    .map((one, rank) => ({ ...one, rank, next: rank + 1 }));
}

function r2Spec() {
  const few = predicted.length <= MOST_BARS;
  const spec = structuredClone(few ? charts.bars : charts.strip);
  const room = at("r2-chart").clientWidth;
  if (few) spec.width = room - nameAxis(spec.encoding.y.axis, room, longestName(predicted)) - 16;
  spec.description = "R squared of each feature, best predicted first; the table below has the numbers.";
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

// A chart whose width decides its layout is made anew when that changes, else only given other data.
const widths = {};
const drawWide = (name, spec, rows) => queued(name, async () => {
  const width = at(`${name}-chart`).clientWidth;
  const dataset = name === "r2" ? "r2" : "loadings";
  if (width !== widths[name]) await embed(name, spec(), { [dataset]: rows(current()) });
  widths[name] = width;
  await views[name].signal("wanted", wanted()).data(dataset, rows(current())).resize().runAsync();
});
const drawLoadings = () => drawWide("loadings", loadingsSpec, loadingsRows);
const drawR2 = () => drawWide("r2", r2Spec, r2Rows);

const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));
let scoresKey = null, lastRows = null;
const drawScores = () => queued("scores", async () => {
  const step = current(), along = axes(step);
  const { key, spec } = scoresSpec(step, "Sparse");
  const rows = scoresRows(drawnScores(step), scoresOf(step), along);
  if (key !== scoresKey) {
    await embed("scores", spec, { scores: rows });
    await embed("pca", scoresSpec(step, "PCA").spec, { scores: scoresRows(pcaScores, pca.scores.map(floats), along) });
    for (const view of [views.scores, views.pca]) linkHover(view);
  } else {
    const frames = still.matches || lastRows === null ? 1 : FRAMES;
    for (let frame = 1; frame <= frames && step === current(); frame++) {
      const part = frame / frames;
      const between = rows.map((one, i) => ({
        ...one, x: lastRows[i].x + part * (one.x - lastRows[i].x), y: lastRows[i].y + part * (one.y - lastRows[i].y) }));
      await views.scores.data("scores", part === 1 ? rows : between).runAsync();
      if (frame < frames) await nextFrame();
    }
  }
  scoresKey = key;
  lastRows = rows;
});

function linkHover(view) {
  const light = (number) => {
    for (const other of [views.scores, views.pca]) other?.signal("hot", number).runAsync();
  };
  view.addEventListener("mouseover", (_, item) => light(item?.datum?.i ?? -1));
  view.addEventListener("mouseout", () => light(-1));
}

// ---- text and tables ----

function heldOut(step) {
  if (!isHeld) return ["New samples: not computed for this page.", "Add --cv 5 to the command that wrote it, or cv=5 in Python."];
  if (step.held === undefined) return ["New samples: not computed.", "The test needs at least half of the features, because it predicts those that are not read."];
  if (!step.heldText) return ["On new samples, nothing transfers.", "Features that are not read are not predicted better than by their means (cross-validation)."];
  return [`${step.heldText} on new samples.`,
    "Share of the variance that PCA keeps, for features that are not read, in samples left out of the fit (cross-validation, ± one standard error)."];
}

function writeAnswer(step) {
  at("answer-title").textContent = counted(step.features, "feature");
  at("share").textContent = step.keptText;
  at("sentence").replaceChildren(...step.sentence.map((line) => element("p", line)));
  const [headline, note] = heldOut(step);
  at("held-out").textContent = headline;
  at("held-out").classList.toggle("unknown", step.held === undefined);
  at("held-note").textContent = note;
  at("equations").replaceChildren(...step.equations.map((line) => element("li", line, { dir: "auto" })));
  at("equations-details").open ||= step.equations.every((line) => line.length <= LONG_EQUATION) && !narrow.matches;
  at("chips").replaceChildren(...largestFirst(step).map((place) => chip(step.support[place])));
  at("scores-title").textContent = `${counted(step.features, "feature")}: same samples, same orientation`;
}
const narrow = matchMedia("(max-width: 48rem)");

function writeKept() {
  const head = ["features", "kept of PCA's variance", "at most", ...(isHeld ? ["on new samples"] : []), "explained of all variance"];
  const rows = steps.map((step) => row(
    step.features, [step.keptText, step.mostText, ...(isHeld ? [step.heldText || (step.held === undefined ? "" : "nothing transfers")] : []), step.explainedText]));
  fill(at("kept-table"), "Share kept by each number of features, and what no choice of that number can exceed", head, rows);
  const proved = steps.every(({ kept, most }) => most - kept < 5e-4);
  const keys = proved ? [["kept (proved optimal everywhere)", "#1f77c9"]]
    : [["kept", "#1f77c9"], ["the most any choice could keep", "#2e8b57"]];
  if (steps.some((step) => step.heldText)) keys.push(["on new samples, ± one standard error", "#8560c0"]);
  at("kept-legend").replaceChildren(...keys.map(([text, colour]) => element("span", text, { class: "legend-key", style: `--key: ${colour}` })));
  const byNumber = [...suggestions].sort((a, b) => a.features - b.features);
  at("suggestions").replaceChildren(...byNumber.map(({ features, reason }) => {
    const line = element("li"), button = element("button", `${features}: ${reason}`, { type: "button", "data-number": features });
    button.addEventListener("click", () => move(features));
    line.append(button);
    return line;
  }));
}

function markCurrent() {
  const mark = (node, on) => (on ? node.setAttribute("aria-current", "true") : node.removeAttribute("aria-current"));
  [...at("kept-table").tBodies[0].rows].forEach((line, i) => mark(line, i + 1 === slider.valueAsNumber));
  for (const button of at("suggestions").querySelectorAll("button")) mark(button, button.dataset.number === slider.value);
}

function writeLoadings(step) {
  const rows = largestFirst(step).map((place) => {
    const made = row(names[step.support[place]], step.loadings.map((component) => component[place].toFixed(4)));
    if (wanted() !== "" && matches(names[step.support[place]])) made.setAttribute("aria-current", "true");
    return made;
  });
  const head = ["feature", ...step.loadings.map((_, i) => componentName(i))];
  fill(at("loadings-table"), `Loadings with ${counted(step.features, "feature")}`, head, rows);
  const lines = r2Rows(step).map((one) => row(one.feature, [one.chosen ? "yes" : "no", one.r2.toFixed(3)]));
  fill(at("r2-table"), `R² with ${counted(step.features, "feature")}`, ["feature", "chosen", "R²"], lines);
}

function writeScores(step) {
  if (!at("scores-details").open) return;  // long, and rarely looked at
  const scores = scoresOf(step);
  const head = ["sample", ...(labels === null ? [] : ["label"]), ...scores.map((_, i) => scoreName(i))];
  const rows = samples.map((sample, i) => {
    const label = labels === null ? [] : [labelOf(i, labels) ?? "missing"];
    return row(sample, [...label, ...scores.map((component) => component[i].toPrecision(4))]);
  });
  fill(at("scores-table"), `Scores with ${counted(step.features, "feature")}`, head, rows);
}

function writeSubstitutes(step) {
  at("substitutes").hidden = !step.substitutes;
  if (!step.substitutes) return;
  const often = step.again !== undefined;
  const rows = largestFirst(step).map((place) => {
    const list = element("ul", undefined, { class: "plain chips" });
    for (const [j, kept] of step.substitutes[place]) {
      const line = element("li");
      line.append(element("bdi", names[j]), element("span", percentKept(kept), { class: "share-kept" }));
      list.append(line);
    }
    const line = row(names[step.support[place]], [list]);
    if (often) line.cells[0].append(element("span", `chosen again: ${step.again[place]} of ${page.halves}`, { class: "hint" }));
    return line;
  });
  const counts = often ? `; chosen again: by how many of ${page.halves} random half-samples` : "";
  fill(at("substitutes-table"), `One feature replaced, the others kept${counts}`, ["chosen", "could be replaced by (share then kept)"], rows);
}

// Where there are too many features for a bar each, those at both ends by name.
function writeR2Ends(step) {
  if (predicted.length <= MOST_BARS) return;
  const unread = r2Rows(step).filter((one) => !one.chosen);
  const ends = [["Predicted best, of those not chosen", unread.slice(0, EACH_END)], ["Lost", unread.slice(-EACH_END).reverse()]];
  at("r2-ends").replaceChildren(...ends.flatMap(([title, features]) => {
    const list = element("ul", undefined, { class: "plain chips" });
    for (const { feature, r2 } of features) {
      const line = element("li");
      line.append(element("bdi", feature), element("span", r2.toFixed(2), { class: "share-kept" }));
      list.append(line);
    }
    return [element("h3", title), list];
  }));
}

// ---- rules: pin and ban ----

function toggle(set, other, j) {
  if (set.has(j)) set.delete(j);
  else { set.add(j); other.delete(j); }
  remember();
  return show();
}

function ruleButtons(j) {
  return [[pinned, banned, "+", "Pin"], [banned, pinned, "×", "Ban"]].map(([set, other, sign, verb]) => {
    const button = element("button", sign, {
      type: "button", class: "toggle", title: `${verb} ${names[j]}`, "aria-label": `${verb} ${names[j]}`, "aria-pressed": set.has(j) });
    button.addEventListener("click", async () => {
      await toggle(set, other, j);
      document.querySelector(`[aria-label="${CSS.escape(`${verb} ${names[j]}`)}"]`)?.focus();
    });
    return button;
  });
}

function chip(j) {
  const made = element("li");
  made.append(element("bdi", names[j]), ...ruleButtons(j));
  return made;
}

// The panels of this size that were computed: the one found, and those with one feature replaced.
function panelsOf(step) {
  const swapped = (step.substitutes ?? []).flatMap((list, place) =>
    list.map(([j, kept]) => ({ kept, support: step.support.map((feature, i) => (i === place ? j : feature)) })));
  return [{ kept: step.kept, support: step.support }, ...swapped];
}

function writeRules(step) {
  const active = pinned.size + banned.size > 0;
  if (!active) { at("rules").replaceChildren(); return; }
  const allowed = panelsOf(step)
    .filter(({ support }) => [...pinned].every((j) => support.includes(j)) && support.every((j) => !banned.has(j)))
    .sort((a, b) => b.kept - a.kept);
  const clauses = [
    ...(pinned.size ? [`with ${[...pinned].map((j) => names[j]).join(", ")}`] : []),
    ...(banned.size ? [`without ${[...banned].map((j) => names[j]).join(", ")}`] : [])];
  const lines = [`Rule: ${clauses.join("; ")}.`];
  if (allowed.length) {
    const best = allowed[0], isSame = best.support.every((j) => step.support.includes(j));
    lines.push(isSame ? "The panel above keeps this rule."
      : `Best computed panel: ${best.support.map((j) => names[j]).join(", ")}; keeps ${percentKept(best.kept)}.`);
  } else lines.push("No panel of this size that was computed keeps this rule.");
  lines.push("Only computed panels are compared here; the command below finds the best one.");
  const clear = element("button", "Clear rule", { type: "button" });
  clear.addEventListener("click", () => { pinned.clear(); banned.clear(); remember(); show(); });
  at("rules").replaceChildren(...lines.map((line) => element("p", line, { dir: "auto" })), clear);
}

// ---- commands that repeat the view ----

const plainName = (j) => names[j].replace(/^\u2068|\u2069$/g, "");
const shellQuoted = (text) => (/^[\w.,:%@/+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
const listOf = (set) => `[${[...set].map((j) => JSON.stringify(plainName(j))).join(", ")}]`;

function commandFor(step) {
  const rules = [["--include", pinned], ["--exclude", banned]].flatMap(([option, set]) =>
    [...set].map((j) => `${option} ${shellQuoted(plainName(j))}`));
  const parts = ["sparing fit", shellQuoted(source.file), `-k ${page.asked}`, `-r ${step.features}`, ...source.options, ...rules];
  return parts.join(" ");
}

function pythonFor(step) {
  const rules = [["include", pinned], ["exclude", banned]].filter(([, set]) => set.size).map(([name, set]) => `${name}=${listOf(set)}`);
  const settings = [`n_components=${page.asked}`, `n_nonzero=${step.features}`, ...source.settings, ...rules].join(", ");
  const isOpened = source.opening !== null;
  return [
    `from sparing import SparseEncoder${isOpened ? ", open_data" : ""}`, "",
    ...(isOpened ? [`X = open_data(${[JSON.stringify(source.file), ...source.opening].join(", ")})`] : []),
    `model = SparseEncoder(${settings}).fit(X)`, "print(model.certificate_)"].join("\n");
}

function writeCommands(step) {
  at("command").textContent = commandFor(step);
  at("python").textContent = pythonFor(step);
}

const copies = {
  sentence: () => [...current().sentence, ...(current().heldText ? [heldOut(current()).join(" ")] : [])].join("\n"),
  equations: () => current().equations.join("\n"),
  command: () => commandFor(current()),
  python: () => pythonFor(current()),
  link: () => location.href,
};

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {  // without permission, or in an older browser: by way of a selection
    const area = element("textarea", text, { "aria-hidden": "true", class: "unseen" });
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  at("copied").textContent = "Copied.";
  setTimeout(() => { at("copied").textContent = ""; }, 2000);
}

// ---- the view in the address ----

const state = () => new URLSearchParams({
  features: slider.value, across: at("across").value, up: at("up").value, colour: at("colour").value,
  pin: [...pinned].join("."), ban: [...banned].join("."),
});
const remember = () => history.replaceState(null, "", `#${state()}`);

function recall() {
  const asked = new URLSearchParams(location.hash.slice(1));
  const number = Number(asked.get("features"));
  if (Number.isInteger(number) && number >= 1 && number <= steps.length) slider.value = number;
  for (const id of ["across", "up", "colour"]) {
    const wantedValue = asked.get(id);
    if (wantedValue !== null && [...at(id).options].some((option) => option.value === wantedValue)) at(id).value = wantedValue;
  }
  for (const [name, set] of [["pin", pinned], ["ban", banned]]) {
    set.clear();
    for (const j of (asked.get(name) ?? "").split(".").filter((text) => /^\d+$/.test(text)).map(Number)) {
      if (names[j] !== undefined) set.add(j);
    }
  }
  chooseColour();
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

const places = new Map(predicted.map((j, place) => [j, place]));

function search() {
  const found = wanted() === "" ? [] : Object.keys(names).filter((j) => matches(names[j])).map(Number);
  const lines = found.slice(0, MOST_FOUND).map((j) => {
    const when = whenUsed(j);
    const line = element("li", undefined, { dir: "auto" });
    const most = counted(steps.length, "feature");
    const said = when ? `: chosen with ${when} of ${most}` : `: not chosen with up to ${most}`;
    const r2 = places.has(j) ? `; R² ${(r2Of(current())[places.get(j)] / 1000).toFixed(3)} with ${current().features}` : "";
    line.append(element("bdi", names[j]), said + r2, ...ruleButtons(j));
    return line;
  });
  const list = element("ul");
  list.append(...lines);
  const few = Object.keys(names).length < page.shape[1] ? " among those ever chosen" : "";
  const more = found.length > MOST_FOUND ? `; the first ${MOST_FOUND} are shown` : "";
  const said = element("p", `${counted(found.length, "feature")} found${few}${more}.`);
  at("found").replaceChildren(...(wanted() === "" ? [] : [said, list]));
}

function searched() {
  search();
  writeLoadings(current());
  drawLoadings();
  drawR2();
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
  writeAnswer(step);
  writeRules(step);
  writeLoadings(step);
  writeScores(step);
  writeSubstitutes(step);
  writeR2Ends(step);
  writeCommands(step);
  search();
  markCurrent();
  return Promise.all([drawKept(), drawLoadings(), drawScores(), drawR2()]);
}

function move(number) {
  slider.value = number;
  announce(current());
  remember();
  return show();
}

function prepareAxes() {
  for (const [id, chosen] of [["across", 0], ["up", 1]]) {
    for (let i = 0; i < page.components; i++) at(id).append(element("option", componentName(i), { value: i }));
    at(id).value = Math.min(chosen, page.components - 1);
    at(id).addEventListener("change", () => { remember(); drawScores(); });
    at(`${id}-label`).hidden = page.components < 3;
  }
}

slider.max = steps.length;
slider.value = page.start;
at("pca-title").textContent = `PCA: reads all ${page.shape[1].toLocaleString("en-US")} features, keeps ${pca.explainedText} of the variance`;
at("r2-which").textContent = predicted.length < page.shape[1] ? `Shown: the ${predicted.length} features that vary most, or are chosen.` : "";
prepareAxes();
prepareColours();
recall();
writeKept();
slider.addEventListener("input", () => move(slider.valueAsNumber));
addEventListener("hashchange", () => { recall(); show(); });
at("search").addEventListener("input", searched);
at("download").addEventListener("click", download);
for (const button of document.querySelectorAll("[data-copies]")) {
  button.addEventListener("click", () => copy(copies[button.dataset.copies]()));
}
at("scores-details").addEventListener("toggle", () => writeScores(current()));
new ResizeObserver(() => { drawLoadings(); drawR2(); }).observe(at("loadings-chart"));
show().then(() => { document.body.dataset.ready = "yes"; });
