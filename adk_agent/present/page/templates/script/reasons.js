// Why a trial did not pass with links to what shows it, what it took, and what was checked.
function why(parent, trial, number) {
  const found = trial.why;
  if (!found) return;
  put(parent, "h3", "Why it did not pass");
  put(put(parent, "p"), "strong", found.kind.replaceAll("_", " "));
  put(parent, "p", found.summary);
  const also = found.also.map((kind) => kind.replaceAll("_", " ")).join(", ");
  const side = { user: "the simulated user", harness: "the assessor" }[found.side] || "the " + found.side;
  put(parent, "p", `On the side of ${side}.${also ? " Also: " + also + "." : ""} Told by ${found.by}.`, "note");
  const untold = found.untold.filter((text) => !found.findings.some((line) => line.includes(text)));
  if (untold.length) list(parent, untold.map((text) => "not told to the user: " + text));
  if (found.findings.length) list(parent, found.findings);
  if (found.form) form(parent, found.form);
  if (trial.cited.length) citations(parent, trial.cited, number);
}

function form(parent, found) {
  put(parent, "p", `${found.without} of ${found.replies} replies held no call, for example:`);
  put(parent, "pre", found.example);
  put(parent, "p", "A reply is one JSON object, such as one of these:");
  put(parent, "pre", found.expected.join("\n"));
}

function citations(parent, cited, number) {
  put(parent, "p", "Go to the evidence:", "who");
  const made = put(parent, "ul", null, "evidence");
  for (const [text, target] of cited) {
    put(put(made, "li"), "a", text).href = `#trial-${number}/${target}`;
  }
}

function repairs(parent, trial) {
  if (!trial.repairs.length) return;
  put(parent, "h3", "How its replies were read");
  put(parent, "p", "Some of the agent's replies had to be repaired before they could be read. This costs the agent nothing.");
  list(parent, trial.repairs);
}

function usage(parent, trial) {
  if (!trial.usage.length) return;
  put(parent, "h3", "Tokens and cost");
  table(parent, "Tokens and cost", [["told by"], ["tokens", true], ["cost", true], ["steps with figures", true]], trial.usage.map((row) => [
    row.who,
    row.tokens === null ? "–" : row.tokens.toLocaleString("en-US"),
    row.cost === null ? "–" : dollars(row.cost),
    `${row.told} of ${row.steps}`,
  ]));
  put(parent, "p", "Sources are not added up: an agent's own figures may include those of its team.", "note");
}

function checks(parent, trial) {
  if (!trial.components.length) return;
  const part = put(parent, "section", null, "part");
  part.id = "checks";
  put(part, "h3", "What was checked");
  const rows = [];
  for (const each of trial.components) {
    const value = each.value === null ? "unscored" : each.value === 1 ? "✓ 1" : "✗ " + Number(each.value.toFixed(3));
    rows.push([each.name, each.counts ? "yes" : "no", value, each.reason ?? ""]);
    for (const [text, met, reason] of each.checks) {
      rows.push(["", "", met === null ? "? open" : met ? "✓ met" : "✗ not met", reason ? `${text} (${reason})` : text]);
    }
  }
  table(part, "What was checked", [["component"], ["counts"], ["result"], ["check"]], rows);
}

function evaluations(parent, trial) {
  if (trial.evaluations.length) {
    put(parent, "h3", "What the evaluators say");
    for (const each of trial.evaluations) {
      const score = each.score === null || each.score === undefined ? "" : ` ${each.score}`;
      const line = put(parent, "p", null);
      put(line, "strong", each.name);
      line.append(` (${each.by}): ${each.status}${score}${each.reason ? ", " + each.reason : ""}`);
      const said = [each.said, ...each.findings].filter(Boolean);
      if (said.length) list(parent, said);
    }
  }
  if (trial.problems.length) {
    put(parent, "h3", "Of the traces that came back");
    list(parent, trial.problems);
  }
}
