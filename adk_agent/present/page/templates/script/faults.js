// A trial's plays under injected faults, beside the plain one. Only pages of such runs have this part.
// Reads of a trial: chaos [{family, plain, reward, outcome, reason, faults, repeated, blind, items,
// left_out}], where an item may have fault (a remark) and dropped (a reply that nobody read).
function underFaults(parent, trial) {
  const part = put(parent, "section", null, "part");
  part.id = "faults";
  put(part, "h3", "Under injected faults");
  if (!trial.chaos.length) {
    put(part, "p", "There was no room for these plays; they stand in trials.jsonl.", "note");
    return;
  }
  const figure = (value) => (value === null ? "–" : Number(value.toFixed(3)));
  table(part, "Plays under injected faults", [["faults"], ["plain", true], ["under faults", true], ["what happened"], ["writes repeated", true], ["blind", true]], trial.chaos.map((play) => [
    play.family, figure(play.plain), figure(play.reward), play.faults || "no fault was drawn", play.repeated ?? "–", play.blind ?? "–",
  ]));
  for (const play of trial.chaos) if (play.items) faultedPlay(part, play);
}

function faultedPlay(parent, play) {
  const made = put(parent, "details", null, "play");
  put(made, "summary", `${play.family}: ${play.outcome} (${play.faults})`);
  if (play.reason) put(made, "p", play.reason);
  const turns = put(made, "ol", null, "turns");
  play.items.forEach((item, place) => {
    turn(turns, item, `${play.family}-${place}`);
    markFault(turns.lastElementChild, item);
  });
  if (play.left_out) put(made, "p", `${play.left_out} more messages stand in trials.jsonl.`, "note");
}

function markFault(line, item) {
  if (item.who === "fault") line.querySelector(".who").textContent = "Injected fault";
  if (item.fault) {
    const head = line.querySelector("summary");
    const tags = head ? head.querySelector(".tags") ?? put(head, "span", null, "tags") : line;
    put(tags, "span", item.fault, "tag injected");
  }
  if (item.dropped === undefined) return;
  put(line, "p", item.dropped ? "Dropped reply" : "The dropped reply was empty.", "who");
  if (item.dropped) scrolls(put(line, "pre", readable(item.dropped), "result dropped"), "Dropped reply");
}
