// The calls between the agents of a team, trial by trial.
function sequence(trial) {
  // In the order in which they began; a call without a time stays behind the one before it.
  let last = 0;
  return trial.timeline.steps
    .map((step, place) => ({ step, place, began: (last = step.at ?? last) }))
    .filter(({ step }) => step.team !== undefined)
    .sort((a, b) => a.began - b.began);
}

function reader() {
  const known = new Map();
  return async (number) => {
    if (!known.has(number)) known.set(number, sequence(await unpack(number)));
    return known.get(number);
  };
}

function joins(line, { step }) {
  return line.dataset.from === step.from && line.dataset.to === step.team;
}

function described({ step }) {
  const when = step.at === null ? "at an unknown time" : `after ${time(step.at)}`;
  const figures = used(step.tokens, step.cost);
  return `${step.from} to ${step.team}, ${when}, took ${time(step.ms)}${figures ? ", " + figures : ""}${step.error === null ? "" : ", failed"}`;
}

function texts(parent, number, { step, place }) {
  exchanged(parent, step, "The conversation of the trial has its texts.");
  if (step.error !== null) put(parent, "p", "Failed: " + step.error);
  put(put(parent, "p"), "a", "Open it in its trial").href = `#trial-${number}/step-${place}`;
}

function folded(parent, name, number, found) {
  const made = put(parent, "details", null, "message");
  put(made, "summary", `${name}: ${described(found)}`);
  texts(made, number, found);
}
