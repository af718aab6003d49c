"use strict";
// What others wrote enters the page as text nodes only: no markup is ever made of it.
const $ = (id) => document.getElementById(id);
const data = JSON.parse($("data").textContent);
const ROW = 56; // pixels: the height of .row at 16 pixels a rem
const fields = ["key", "search", "axis", "stimulus", "outcome", "verdict", "cell"];

const make = (name, text, attributes = {}) => {
  const element = document.createElement(name);
  if (text !== undefined) element.textContent = text;
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
};

// -- the data: texts are kept once, and looked up when they are shown ------------------------------

const calls = data.calls.map(([id, axis, stimulus, cell, repeat, outcome, shape, verdict, reply, prompt], at) => ({
  at, id, axis: data.names[axis], stimulus: data.names[stimulus], cell: data.cells[cell], repeat,
  outcome: data.names[outcome], shape: data.names[shape], verdict: data.names[verdict], reply, prompt,
}));
const byId = new Map(calls.map((call) => [call.id, call]));
const told = (call) => call.cell.map(([name, value]) => `${name} ${value}`).join(", ") + (call.repeat ? `, repeat ${call.repeat}` : "");
const read = (call) => call.verdict || call.shape || call.outcome || "not asked";

const all = calls.map((call) => ({ why: "", calls: [call.at] }));
const casesOf = (key) => {
  const found = data.figures[key];
  return found === undefined ? [] : data.sets[found].map(([why, members]) => ({ why, calls: members }));
};

// -- filters ---------------------------------------------------------------------------------------

let shown = [];
let chosen = -1;

const words = new Map(); // call -> what is searched beside its prompt
const searched = (call) => {
  if (!words.has(call.at)) {
    words.set(call.at, [call.id, call.stimulus, told(call), read(call), data.replies[call.reply]].join("\n").toLowerCase());
  }
  return words.get(call.at);
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
  const fits = (call) =>
    (!value.axis || call.axis === value.axis) && (!value.stimulus || call.stimulus === value.stimulus) &&
    (!value.outcome || call.outcome === value.outcome) && (!value.verdict || call.verdict === value.verdict) &&
    (!held || call.cell.some(([name, text]) => name === cell && text === held)) && found(call);
  const cases = value.key ? casesOf(value.key) : all;
  shown = cases.filter((one) => one.calls.some((at) => fits(calls[at])));
  const what = value.key ? "case" : "call";
  $("count").textContent = `${shown.length.toLocaleString("en")} ${what}${shown.length === 1 ? "" : "s"}${value.key && shown.length ? ", the worst first" : ""}`;
  const figure = data.about[value.key];
  $("about").textContent = (figure || "") + (value.key && !cases.length ? ` ${data.none[value.key] || "This run has no such figure."}` : "");
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
  $("rows").replaceChildren(...shown.slice(first, last).map((one, offset) => row(one, first + offset)));
  if (chosen >= first && chosen < last) list.setAttribute("aria-activedescendant", `row-${chosen}`);
  else list.removeAttribute("aria-activedescendant");
};

const row = (one, at) => {
  const call = calls[one.calls[0]];
  const element = make("div", undefined, {
    class: "row", role: "option", id: `row-${at}`, "aria-selected": at === chosen, "aria-posinset": at + 1, "aria-setsize": shown.length,
  });
  element.style.top = `${at * ROW}px`;
  element.append(make("b", one.why || `${call.stimulus}: ${read(call)}`), make("span", one.calls.length > 1 ? `${one.calls.length} calls` : told(call)));
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
  if (remember && at >= 0) history.replaceState(null, "", address(at));
};

const address = (at) => {
  const key = $("key").value;
  return key ? `#key=${encodeURIComponent(key)}&case=${at + 1}` : `#call-${encodeURIComponent(calls[shown[at].calls[0]].id)}`;
};

// -- one case --------------------------------------------------------------------------------------

const show = (one) => {
  $("calls").className = one && one.calls.length === 2 ? "pair" : "";
  $("why").textContent = one ? one.why || calls[one.calls[0]].stimulus : "Nothing fits";
  const members = one ? one.calls.map((at) => calls[at]) : [];
  const marks = members.length === 2 ? differences(...members.map((call) => data.prompts[call.prompt])) : [];
  $("calls").replaceChildren(...members.map((call, at) => article(call, marks[at], members.length <= 2)));
  for (const mark of document.querySelectorAll("pre mark:first-of-type")) mark.parentElement.scrollTop = mark.offsetTop - 60;
};

const article = (call, marks, open) => {
  const element = make("article", undefined, { class: "call" });
  const heading = make("h3");
  heading.append(make("a", call.id.slice(0, 12), { href: `#call-${encodeURIComponent(call.id)}`, class: "code" }), ` ${call.stimulus}`);
  const verdict = make("p", undefined, { class: call.verdict ? "read" : "read lost" });
  verdict.textContent = call.verdict ? `Read: ${call.verdict}` : `No verdict: ${[call.outcome, call.shape].filter(Boolean).join(", ") || "not asked"}`;
  const prompt = make("details");
  prompt.append(make("summary", marks ? "Prompt; what differs is marked" : "Prompt"));
  const fill = () => prompt.childElementCount > 1 || prompt.append(text(data.prompts[call.prompt], marks));
  prompt.addEventListener("toggle", fill);
  if (open) { fill(); prompt.open = true; }
  const help = call.verdict ? undefined : data.groups[call.axis]?.[call.shape];
  element.append(heading, make("p", `${call.axis}: ${told(call)}`, { class: "cell" }), verdict,
    ...(help ? [make("p", help, { class: "cell" })] : []), make("h4", "Reply"),
    make("pre", data.replies[call.reply] || "(no words)", { tabindex: 0 }), prompt);
  return element;
};

const text = (prompt, marks) => {
  const element = make("pre", undefined, { tabindex: 0 });
  prompt.forEach((line, at) => element.append(marks && marks.has(at) ? make("mark", data.lines[line] || " ") : `${data.lines[line]}\n`));
  return element;
};

// The lines of two prompts that are in no longest common subsequence of lines.
const differences = (one, other) => {
  let start = 0;
  while (start < one.length && start < other.length && one[start] === other[start]) start++;
  let end = 0;
  while (end < Math.min(one.length, other.length) - start && one.at(-1 - end) === other.at(-1 - end)) end++;
  const [a, b] = [one.slice(start, one.length - end), other.slice(start, other.length - end)];
  const every = [a, b].map((lines) => new Set(lines.map((_, at) => at + start)));
  if (a.length * b.length > 4e6) return every;
  const wide = b.length + 1;
  const longest = new Uint32Array((a.length + 1) * wide);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      longest[i * wide + j] = a[i] === b[j] ? longest[(i + 1) * wide + j + 1] + 1
        : Math.max(longest[(i + 1) * wide + j], longest[i * wide + j + 1]);
    }
  }
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    if (a[i] === b[j]) { every[0].delete(start + i++); every[1].delete(start + j++); }
    else if (longest[(i + 1) * wide + j] >= longest[i * wide + j + 1]) i++;
    else j++;
  }
  return every;
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
    const call = byId.get(decodeURIComponent(hash.slice(5)));
    if (!call) return;
    fields.forEach((name) => { $(name).value = ""; });
    filter();
    choose(call.at);
  } else if (parts.has("key")) {
    const key = parts.get("key");
    if (![...$("key").options].some((one) => one.value === key)) $("key").append(make("option", key, { value: key }));
    fields.forEach((name) => { $(name).value = name === "key" ? key : ""; });
    filter();
    choose(Math.min(Number(parts.get("case") || 1), shown.length) - 1, false);
  } else {
    filter();
  }
};

const offer = (id, values) => $(id).append(...[...new Set(values)].filter(Boolean).sort().slice(0, 500).map((value) => make("option", value, { value })));
offer("axis", calls.map((call) => call.axis));
offer("outcome", calls.map((call) => call.outcome));
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
