"use strict";
// What others wrote enters the page as text nodes only: no markup is ever made of it.
const $ = (id) => document.getElementById(id);
const data = JSON.parse($("data").textContent);
const ROW = 56; // pixels: the height of .row at 16 pixels a rem
const LOST = "lost"; // any outcome without a verdict
const fields = ["key", "search", "axis", "stimulus", "outcome", "verdict", "cell"];

const make = (name, text, attributes = {}) => {
  const element = document.createElement(name);
  if (text !== undefined) element.textContent = text;
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
};

// -- the data: texts are kept once, and looked up when they are shown ------------------------------

const calls = data.calls.map(([id, axis, stimulus, outcome, reason, verdict, lost, cell, repeat, reply, prompt]) => ({
  id, axis: data.names[axis], stimulus: data.names[stimulus], outcome: data.names[outcome], reason: data.names[reason],
  verdict: data.names[verdict], lost: lost === 1, cell: data.cells[cell], repeat, reply, prompt,
}));
const condition = (call) => call.cell.map(([name, value]) => `${name} ${value}`).join(", ") + (call.repeat ? `, repeat ${call.repeat}` : "");
const read = (call) => call.verdict || call.reason || call.outcome;
const readBy = (key) => (Object.hasOwn(data.figures, key) ? data.sets[data.figures[key]].map((at) => calls[at]) : []);

// -- filters ---------------------------------------------------------------------------------------

let shown = [];
let chosen = -1;

const words = new Map(); // call -> what is searched beside its prompt
const searched = (call) => {
  if (!words.has(call)) {
    words.set(call, [call.id, call.stimulus, condition(call), read(call), data.replies[call.reply]].join("\n").toLowerCase());
  }
  return words.get(call);
};

const search = (text) => {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return () => true;
  const lines = new Set(data.lines.flatMap((line, at) => (line.toLowerCase().includes(wanted) ? [at] : [])));
  const prompts = new Set(data.prompts.flatMap((prompt, at) => (prompt.some((line) => lines.has(line)) ? [at] : [])));
  return (call) => prompts.has(call.prompt) || searched(call).includes(wanted);
};

const filter = () => {
  const value = Object.fromEntries(fields.map((name) => [name, $(name).value]));
  const [cell, held] = value.cell.split(/=(.*)/s);
  const found = search(value.search);
  shown = (value.key ? readBy(value.key) : calls).filter((call) =>
    (!value.axis || call.axis === value.axis) && (!value.stimulus || call.stimulus === value.stimulus) &&
    (!value.outcome || call.outcome === value.outcome || (value.outcome === LOST && call.lost)) &&
    (!value.verdict || call.verdict === value.verdict) &&
    (!held || call.cell.some(([name, text]) => name === cell && text === held)) && found(call));
  $("count").textContent = `${shown.length.toLocaleString("en")} call${shown.length === 1 ? "" : "s"}`;
  $("about").textContent = value.key ? data.about[value.key] || "This run has no such figure." : "";
  const anchor = value.key.replace(/[^A-Za-z0-9_.=-]+/g, "-").replace(/^-|-$/g, "");
  $("sheet").setAttribute("href", value.key ? `datasheet.html#${anchor}` : "datasheet.html");
  $("list").scrollTop = 0;
  choose(shown.length ? 0 : -1, false);
};

// -- the list: only the rows in sight are elements -------------------------------------------------

const draw = () => {
  const list = $("list");
  const first = Math.max(0, Math.floor(list.scrollTop / ROW) - 5);
  const last = Math.min(shown.length, first + Math.ceil(list.clientHeight / ROW) + 10);
  $("rows").style.height = `${shown.length * ROW}px`;
  $("rows").replaceChildren(...shown.slice(first, last).map((call, offset) => row(call, first + offset)));
  if (chosen >= first && chosen < last) list.setAttribute("aria-activedescendant", `row-${chosen}`);
  else list.removeAttribute("aria-activedescendant");
};

const row = (call, at) => {
  const element = make("div", undefined, {
    class: "row", role: "option", id: `row-${at}`, "aria-selected": at === chosen, "aria-posinset": at + 1, "aria-setsize": shown.length,
  });
  element.style.top = `${at * ROW}px`;
  element.append(make("b", `${call.stimulus}: ${read(call)}`), make("span", condition(call)));
  element.addEventListener("click", () => choose(at));
  return element;
};

const choose = (at, remember = true) => {
  if (at < -1 || at >= shown.length) return;
  chosen = at;
  const list = $("list");
  if (at >= 0 && (at * ROW < list.scrollTop || (at + 1) * ROW > list.scrollTop + list.clientHeight)) {
    list.scrollTop = at * ROW - list.clientHeight / 3;
  }
  draw();
  show(shown[at]);
  $("previous").disabled = at <= 0;
  $("next").disabled = at >= shown.length - 1;
  if (remember && at >= 0) history.replaceState(null, "", `#call-${encodeURIComponent(shown[at].id)}`);
};

// -- one call --------------------------------------------------------------------------------------

const show = (call) => {
  $("what").textContent = call ? call.stimulus : "Nothing fits";
  $("call").replaceChildren(...(call ? article(call) : []));
};

const article = (call) => {
  const heading = make("h3");
  heading.append(make("a", call.id.slice(0, 12), { href: `#call-${encodeURIComponent(call.id)}`, class: "code" }));
  const verdict = make("p", call.verdict ? `Read: ${call.verdict}` : `No verdict: ${[call.outcome, call.reason].filter(Boolean).join(", ")}`,
    { class: call.verdict ? "read" : "read lost" });
  const lines = data.prompts[call.prompt].map((line) => data.lines[line]).join("\n");
  return [heading, make("p", `${call.axis}: ${condition(call)}`, { class: "cell" }), verdict,
    make("h4", "Reply"), make("pre", data.replies[call.reply] || "(no words)", { tabindex: 0 }),
    make("h4", "Prompt"), make("pre", lines, { tabindex: 0 })];
};

// -- keyboard, address, start ----------------------------------------------------------------------

const STEPS = { j: 1, k: -1, n: 1, p: -1, ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 };
document.addEventListener("keydown", (event) => {
  const typing = event.target.matches("input, select, button");
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/" && !typing) { event.preventDefault(); $("search").focus(); return; }
  if (event.key === "Escape" && typing) { $("list").focus(); return; }
  const arrows = event.key.length > 1;
  if (typing || !(event.key in STEPS) || (arrows && document.activeElement !== $("list"))) return;
  event.preventDefault();
  choose(Math.min(shown.length - 1, Math.max(0, chosen + STEPS[event.key])));
});

const follow = () => {
  const hash = location.hash.slice(1);
  const parts = new URLSearchParams(hash);
  if (hash.startsWith("call-")) {
    const at = calls.findIndex((call) => call.id === decodeURIComponent(hash.slice(5)));
    if (at < 0) return;
    fields.forEach((name) => { $(name).value = ""; });
    filter();
    choose(at);
  } else if (parts.has("key")) {
    const key = parts.get("key");
    if (![...$("key").options].some((one) => one.value === key)) $("key").append(make("option", key, { value: key }));
    fields.forEach((name) => { $(name).value = name === "key" ? key : ""; });
    filter();
  } else {
    filter();
  }
};

const offer = (id, values) => $(id).append(...[...new Set(values)].filter(Boolean).sort().slice(0, 500).map((value) => make("option", value, { value })));
offer("axis", calls.map((call) => call.axis));
offer("outcome", calls.flatMap((call) => (call.lost ? [call.outcome, LOST] : [call.outcome])));
offer("stimuli", calls.map((call) => call.stimulus));
offer("verdicts", calls.map((call) => call.verdict));
offer("cells", data.cells.flatMap((cell) => cell.filter(([, value]) => value.length < 40).map(([name, value]) => `${name}=${value}`)));
for (const axis of new Set(Object.keys(data.about).map((key) => key.split(".")[0]))) {
  const group = make("optgroup", undefined, { label: axis });
  group.append(...Object.keys(data.about).filter((key) => key.startsWith(`${axis}.`)).map((key) => make("option", key, { value: key })));
  $("key").append(group);
}
let waiting;
for (const name of fields) {
  $(name).addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => { history.replaceState(null, "", location.pathname); filter(); }, name === "search" ? 120 : 0);
  });
}
$("clear").addEventListener("click", () => {
  for (const name of fields) $(name).value = "";
  filter();
});
$("previous").addEventListener("click", () => choose(chosen - 1));
$("next").addEventListener("click", () => choose(chosen + 1));
$("list").addEventListener("scroll", draw, { passive: true });
addEventListener("resize", draw);
addEventListener("hashchange", follow);
follow();
