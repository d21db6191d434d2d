// Begins the page's script, which document.py joins of all files of this folder, in its order.
// It shows one trial at a time, and the calls of a team one after another. What it shows stands
// packed in the page, as adk_agent/present/page/conversations.py packs it:
//   why {kind, also, side, summary, by, findings, untold, form {without, replies, example,
//   expected}}, cited [[text, target]], repairs [text], usage [{who, tokens, cost, told, steps}],
//   components [{name, counts, value, reason, checks}], items [{who, text, note} or {who, name,
//   args, writes, note, result, result_note, error, gold, expected, differing, departs}],
//   left_out, missing [{name, by, args}], timeline {lanes, steps [{lane, from, kind, name, at, to,
//   ms, error, told, note, asked, answered, depth, tokens, cost, team}], untimed, left_out},
//   evaluations [...], problems [...].
// Texts become text nodes only: the page's policy refuses everything else.
const SVG = "http://www.w3.org/2000/svg";

function put(parent, tag, text, classes) {
  const made = document.createElement(tag);
  if (classes) made.className = classes;
  if (text !== undefined && text !== null) made.textContent = text;
  parent.append(made);
  return made;
}

function pressable(parent, text, action) {
  const made = put(parent, "button", text);
  made.type = "button";
  made.addEventListener("click", action);
  return made;
}

function list(parent, lines) {
  const made = put(parent, "ul", null, "plain");
  for (const line of lines) put(made, "li", line);
}

function scrolls(made, label) {
  made.tabIndex = 0;
  made.setAttribute("role", "region");
  made.setAttribute("aria-label", label);
}

function table(parent, label, heads, rows) {
  const around = put(parent, "div", null, "scroll");
  scrolls(around, label);
  const made = put(around, "table");
  const head = put(put(made, "thead"), "tr");
  for (const [text, isNumber] of heads) put(head, "th", text, isNumber ? "n" : "").scope = "col";
  const body = put(made, "tbody");
  for (const row of rows) {
    const line = put(body, "tr");
    row.forEach((text, place) => {
      const cell = put(line, place ? "td" : "th", text, heads[place][1] ? "n" : "");
      if (!place) cell.scope = "row";
    });
  }
}

function facts(parent, lines, classes) {
  const made = put(parent, "dl", null, classes);
  for (const [name, value] of lines) {
    if (value === null || value === undefined || value === "") continue;
    put(made, "dt", name);
    put(made, "dd", value);
  }
}

function time(ms) {
  if (ms === null) return "–";
  if (ms < 0.95) return Number(ms.toPrecision(2)) + " ms";
  if (ms < 999.5) return Math.round(ms) + " ms";
  return ms < 99950 ? (ms / 1000).toFixed(1) + " s" : (ms / 60000).toFixed(1) + " min";
}

function count(number, noun) {
  return `${number.toLocaleString("en-US")} ${noun}${number === 1 ? "" : "s"}`;
}

function dollars(cost) {
  return "$" + (cost >= 1 || cost === 0 ? cost.toFixed(2) : cost.toFixed(4));
}

function used(tokens, cost) {
  const parts = [];
  if (typeof tokens === "number") parts.push(count(tokens, "token"));
  if (typeof cost === "number") parts.push(dollars(cost));
  return parts.join(", ");
}

async function unpack(number) {
  const packed = document.getElementById("data-" + number).textContent;
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return JSON.parse(await new Response(stream).text());
}

function unreadable(problem) {
  return `This browser could not unpack the conversation (${problem.message}). A browser of 2023 or later can; trials.jsonl has it too.`;
}
