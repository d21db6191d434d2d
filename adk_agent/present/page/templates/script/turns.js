// The conversation: what was said, and each call folded, with its arguments and its result.
const WHO = { assistant: "Agent", user: "User", system: "System" };
const HOW = { superfluous: "not in the gold path", differs: "differs from the gold path" };
const MOST_PREVIEW = 160;

function readable(text) {
  // Numbers of more than fifteen digits would come out of JSON.parse as others.
  if (!/^\s*[[{]/.test(text) || /\d{16}/.test(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function pairs(parent, args, differing) {
  if (!args.length) return;
  const made = put(parent, "dl", null, "arguments");
  for (const [name, value] of args) {
    put(made, "dt", name);
    put(made, "dd", value, differing.includes(name) ? "differs" : "");
  }
}

function turn(parent, item, place) {
  const line = put(parent, "li", null, [item.who, item.name ? "call" : "", item.departs ? "departs" : ""].join(" "));
  line.id = "turn-" + place;
  const who = WHO[item.who] || item.who;
  if (item.name) {
    call(line, item, who);
    return;
  }
  put(line, "p", who, "who");
  if (item.note) put(line, "span", item.note, "tag bad");
  put(line, "p", item.text, "said");
}

function call(line, item, who) {
  const made = put(line, "details");
  const head = put(made, "summary");
  put(head, "span", `${who} calls `, "who");
  put(head, "strong", item.name);
  const shown = item.args.map(([name, value]) => `${name}: ${value}`).join(", ");
  if (shown) put(head, "span", shown.slice(0, MOST_PREVIEW), "preview");
  const tags = put(head, "span", null, "tags");
  if (item.departs) put(tags, "span", "here the world left the gold path", "tag bad");
  if (item.note) put(tags, "span", item.note, "tag bad");
  if (item.writes && !item.error) put(tags, "span", "changes the world", "tag writes");
  if (item.gold) put(tags, "span", HOW[item.gold] || item.gold, "tag bad");
  if (item.error) put(tags, "span", "failed", "tag bad");
  if (item.result_note) put(tags, "span", item.result_note, "tag bad");
  if (!tags.childNodes.length) tags.remove();
  pairs(made, item.args, item.differing || []);
  if (item.gold === "differs") {
    put(made, "p", "Gold path:", "who");
    pairs(made, item.expected, item.differing);
  }
  const told = item.result === null ? "There is no result." : item.result ? (item.error ? "Error" : "Result") : "The result is empty.";
  put(made, "p", told, "who");
  if (item.result) scrolls(put(made, "pre", readable(item.result), "result"), "Result of " + item.name);
  made.open = Boolean(item.departs || item.gold);
}

function unfolding(parent, turns) {
  const folds = Array.from(turns.querySelectorAll("details"));
  if (!folds.length) return;
  const made = pressable(parent, null, () => {
    const open = folds.some((each) => !each.open);
    for (const each of folds) each.open = open;
  });
  const name = () => { made.textContent = folds.some((each) => !each.open) ? "Unfold all calls" : "Fold all calls"; };
  for (const each of folds) each.addEventListener("toggle", name);
  name();
}

function conversation(parent, trial) {
  const head = put(parent, "div", null, "heading");
  put(head, "h3", "Conversation");
  if (!trial.items.length) put(parent, "p", "Nothing was said.");
  const made = put(parent, "ol", null, "turns");
  trial.items.forEach((item, place) => turn(made, item, place));
  unfolding(head, made);
  if (trial.left_out) put(parent, "p", `${trial.left_out} more messages stand in trials.jsonl.`, "note");
  if (!trial.missing.length) return;
  put(parent, "h3", "In the gold path, and not called");
  const missing = put(parent, "ol", null, "turns");
  trial.missing.forEach((each, place) => {
    const line = put(missing, "li", null, "call");
    line.id = "missing-" + place;
    const said = put(line, "p", `${WHO[each.by] || each.by} should have called `, "who");
    put(said, "strong", each.name);
    pairs(line, each.args, []);
  });
}
