// The timeline: a line for each step, below the step that it was made in, with a bar by time.
function waterfall(parent, trial) {
  put(parent, "h3", "Timeline");
  const { lanes, steps, untimed, left_out } = trial.timeline;
  if (!steps.length) {
    put(parent, "p", "No step was kept.");
    return;
  }
  const end = Math.max(...steps.map((step) => step.to ?? step.at ?? 0), 0);
  const notes = [`${count(steps.length, "step")} over ${time(end)}; open one for its texts.`];
  if (steps.some((step) => step.depth)) notes.push("Indented: made within the step above.");
  if (steps.some((step) => step.told)) notes.push("Dashed: reported and not seen.");
  if (steps.some((step) => step.error !== null)) notes.push("A cross: it failed.");
  if (untimed) notes.push(`${count(untimed, "step")} without a time.`);
  if (left_out) notes.push(`${count(left_out, "more step")} in trials.jsonl.`);
  put(parent, "p", notes.join(" "), "note");
  const around = put(parent, "div", null, "waterfall");
  scrolls(around, "Timeline");
  steps.forEach((step, place) => stepLine(around, step, lanes[step.lane], place, end || 1));
}

function stepLine(parent, step, callee, place, end) {
  const made = put(parent, "details", null, "step");
  made.id = "step-" + place;
  const line = put(put(made, "summary"), "span", null, "line");
  const label = put(line, "span", null, "label");
  label.style.setProperty("--depth", step.depth ?? 0);
  put(label, "span", callee);
  if (step.name && step.name !== callee) put(label, "span", " " + step.name, "muted");
  bar(put(line, "span", null, "lane"), step, end);
  const took = put(line, "span", null, "took");
  took.textContent = (step.error === null ? "" : "✗ ") + time(step.ms);
  if (step.error !== null) put(took, "span", " failed", "away");
  const figures = used(step.tokens, step.cost);
  if (figures) put(took, "span", figures, "muted used");
  let isFilled = false;
  made.addEventListener("toggle", () => {
    if (made.open && !isFilled) inside(made, step, callee);
    isFilled ||= made.open;
  });
}

function bar(lane, step, end) {
  if (step.at === null) return;
  const classes = ["bar", step.kind.toLowerCase(), step.told ? "told" : "", step.error === null ? "" : "broken"];
  const made = put(lane, "span", null, classes.filter(Boolean).join(" "));
  const left = Math.min((100 * step.at) / end, 99.4);
  made.style.left = left + "%";
  made.style.width = Math.min(Math.max((100 * ((step.to ?? step.at) - step.at)) / end, 0.6), 100 - left) + "%";
}

function inside(parent, step, callee) {
  const body = put(parent, "div", null, "about");
  facts(body, [
    ["from", step.from],
    ["to", callee],
    ["what", [step.kind.toLowerCase(), step.name].filter(Boolean).join(" ")],
    ["began", step.at === null ? "at an unknown time" : "after " + time(step.at)],
    ["took", time(step.ms)],
    ["known", (step.told ? "reported and not seen" : "seen by the assessor") + (step.note ? "; " + step.note : "")],
    ["used", used(step.tokens, step.cost)],
    ["failed", step.error],
  ], "arguments");
  exchanged(body, step, "The conversation below has its texts.");
}

function exchanged(parent, step, elsewhere) {
  if (step.asked === undefined) {
    put(parent, "p", elsewhere, "note");
    return;
  }
  for (const [head, text] of [["Asked", step.asked], ["Answered", step.answered]]) {
    put(parent, "p", text ? head : head + ": nothing", "who");
    if (text) scrolls(put(parent, "pre", text, "result"), head);
  }
}
