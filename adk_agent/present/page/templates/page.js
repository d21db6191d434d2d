"use strict";
// Shows one trial at a time. What it shows stands packed in the page, as
// adk_agent/page/conversations.py packs it:
//   why {kind, also, side, summary, by, findings, untold, form {without, replies, example,
//   expected}}, components [{name, counts, value, reason, checks}], items [{who, text, note} or {who, name, args, writes, note, result, result_note, error, gold, expected,
//   differing, departs}], left_out, missing [{name, by, args}], timeline {lanes, steps, untimed,
//   left_out}, evaluations [...], problems [...].
// Texts become text nodes only: the page's policy refuses everything else.
(() => {
  const sheet = document.getElementById("trial");
  const SVG = "http://www.w3.org/2000/svg";
  const WHO = { assistant: "Agent", user: "User", system: "System" };
  const HOW = { superfluous: "not in the gold path", differs: "differs from the gold path" };
  const LANE = 34, BAR = 16;
  let shown = null;

  function put(parent, tag, text, classes) {
    const made = document.createElement(tag);
    if (classes) made.className = classes;
    if (text !== undefined && text !== null) made.textContent = text;
    parent.append(made);
    return made;
  }

  function draw(parent, tag, attributes, text) {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    if (text !== undefined) made.textContent = text;
    parent.append(made);
    return made;
  }

  async function unpack(number) {
    const packed = document.getElementById("data-" + number).textContent;
    const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    return JSON.parse(await new Response(stream).text());
  }

  function time(ms) {
    if (ms === null) return "–";
    if (ms < 0.95) return Number(ms.toPrecision(2)) + " ms";
    if (ms < 999.5) return Math.round(ms) + " ms";
    return ms < 99950 ? (ms / 1000).toFixed(1) + " s" : (ms / 60000).toFixed(1) + " min";
  }

  function readable(text) {
    // Numbers of more than fifteen digits would come out of JSON.parse as others.
    if (!/^\s*[[{]/.test(text) || /\d{16}/.test(text)) return text;
    try {
      return JSON.stringify(JSON.parse(text), null, 2);
    } catch {
      return text;
    }
  }

  function list(parent, lines) {
    const made = put(parent, "ul", null, "plain");
    for (const line of lines) put(made, "li", line);
  }

  function why(parent, trial) {
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
  }

  function form(parent, found) {
    put(parent, "p", `${found.without} of ${found.replies} replies held no call, for example:`);
    put(parent, "pre", found.example);
    put(parent, "p", "A reply is one JSON object, such as one of these:");
    put(parent, "pre", found.expected.join("\n"));
  }

  function table(parent, label, heads, rows) {
    const around = put(parent, "div", null, "scroll");
    around.tabIndex = 0;
    around.setAttribute("role", "region");
    around.setAttribute("aria-label", label);
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

  function gantt(parent, found) {
    put(parent, "h3", "Timeline");
    const { lanes, steps } = found;
    const end = Math.max(...steps.map((step) => step.to ?? step.at), 0);
    if (!steps.length) {
      put(parent, "p", "No step was timed.");
    } else {
      chart(parent, lanes, steps, end || 1);
      const notes = [];
      if (found.untimed) notes.push(`${found.untimed} steps have no time`);
      if (found.left_out) notes.push(`${found.left_out} more steps stand in trials.jsonl`);
      put(parent, "p", `Each step is drawn in the lane of the agent or tool that it called, over ${time(end)}. Dashed: reported and not seen. A cross: it failed.${notes.length ? " " + notes.join("; ") + "." : ""}`, "note");
      stepTable(parent, lanes, steps);
    }
  }

  function chart(parent, lanes, steps, end) {
    const picture = draw(parent, "svg", { class: "gantt", width: "100%", height: lanes.length * LANE + 20, role: "img" });
    draw(picture, "title", {}, "Timeline of the trial");
    draw(picture, "desc", {}, `${steps.length} steps in ${lanes.length} lanes over ${time(end)}: ${lanes.slice(0, 12).join(", ")}`);
    lanes.forEach((name, place) => {
      draw(picture, "rect", { class: "lane", x: 0, y: place * LANE + 14, width: "100%", height: BAR, rx: 4 });
      draw(picture, "text", { x: 0, y: place * LANE + 11 }, name.length > 44 ? name.slice(0, 43) + "…" : name);
    });
    for (const step of steps) {
      const x = (100 * step.at) / end;
      const width = Math.max(0, (100 * ((step.to ?? step.at) - step.at)) / end);
      const classes = [step.kind.toLowerCase(), step.told ? "told" : "", step.error === null ? "" : "broken"].join(" ");
      const y = step.lane * LANE + 14;
      const bar = draw(picture, "rect", { class: classes, x: Math.min(x, 99.6) + "%", y, width: Math.max(width, 0.4) + "%", height: BAR, rx: 3 });
      draw(bar, "title", {}, `${step.from} to ${lanes[step.lane]}${step.name ? ", " + step.name : ""}: ${time(step.ms)}${step.error === null ? "" : ", failed"}`);
      if (step.error !== null) draw(picture, "text", { class: "fault", x: Math.min(x, 98) + "%", y: y + 12 }, "×");
    }
    draw(picture, "text", { class: "tick", x: 0, y: lanes.length * LANE + 16 }, "0");
    draw(picture, "text", { class: "tick", x: "100%", y: lanes.length * LANE + 16, "text-anchor": "end" }, time(end));
  }

  function stepTable(parent, lanes, steps) {
    const around = put(parent, "details");
    put(around, "summary", `Steps: ${steps.length}, with what was asked and answered`);
    const heads = [["from"], ["to"], ["what"], ["begins", true], ["took", true], ["known"], ["asked"], ["answered"]];
    table(around, "Steps", heads, steps.map((step) => [
      step.from, lanes[step.lane], [step.kind.toLowerCase(), step.name].filter(Boolean).join(" "), time(step.at), time(step.ms),
      (step.told ? "reported" : "seen") + (step.note ? "; " + step.note : ""),
      step.asked ?? "see the conversation",
      step.error === null ? step.answered ?? "" : "failed: " + step.error,
    ]));
  }

  function pairs(parent, args, differing) {
    if (!args.length) return;
    const made = put(parent, "dl", null, "arguments");
    for (const [name, value] of args) {
      put(made, "dt", name);
      put(made, "dd", value, differing.includes(name) ? "differs" : "");
    }
  }

  function turn(parent, item) {
    const line = put(parent, "li", null, [item.who, item.name ? "call" : "", item.departs ? "departs" : ""].join(" "));
    const who = WHO[item.who] || item.who;
    if (!item.name) {
      put(line, "p", who, "who");
      if (item.note) put(line, "span", item.note, "tag bad");
      put(line, "p", item.text, "said");
      return;
    }
    const head = put(line, "p", `${who} calls `, "who");
    put(head, "strong", item.name);
    const tags = put(line, "div");
    if (item.departs) put(tags, "span", "here the world left the gold path", "tag bad");
    if (item.note) put(tags, "span", item.note, "tag bad");
    if (item.writes && !item.error) put(tags, "span", "changes the world", "tag writes");
    if (item.gold) put(tags, "span", HOW[item.gold] || item.gold, "tag bad");
    pairs(line, item.args, item.differing || []);
    if (item.gold === "differs") {
      put(line, "p", "Gold path:", "who");
      pairs(line, item.expected, item.differing);
    }
    put(line, "p", item.result === null ? "There is no result." : item.error ? "Error" : "Result", "who");
    if (item.result_note) put(line, "span", item.result_note, "tag bad");
    if (item.result) scrolls(put(line, "pre", readable(item.result), "result"), "Result of " + item.name);
  }

  function scrolls(made, label) {
    made.tabIndex = 0;
    made.setAttribute("role", "region");
    made.setAttribute("aria-label", label);
  }

  function conversation(parent, trial) {
    put(parent, "h3", "Conversation");
    if (!trial.items.length) put(parent, "p", "Nothing was said.");
    const made = put(parent, "ol", null, "turns");
    for (const item of trial.items) turn(made, item);
    if (trial.left_out) put(parent, "p", `${trial.left_out} more messages stand in trials.jsonl.`, "note");
    if (!trial.missing.length) return;
    put(parent, "h3", "In the gold path, and not called");
    const missing = put(parent, "ol", null, "turns");
    for (const call of trial.missing) {
      const line = put(missing, "li", null, "call");
      const head = put(line, "p", `${WHO[call.by] || call.by} should have called `, "who");
      put(head, "strong", call.name);
      pairs(line, call.args, []);
    }
  }

  function checks(parent, trial) {
    if (!trial.components.length) return;
    put(parent, "h3", "What was checked");
    const rows = [];
    for (const each of trial.components) {
      const value = each.value === null ? "unscored" : each.value === 1 ? "✓ 1" : "✗ " + Number(each.value.toFixed(3));
      rows.push([each.name, each.counts ? "yes" : "no", value, each.reason ?? ""]);
      for (const [text, met, reason] of each.checks) {
        rows.push(["", "", met === null ? "? open" : met ? "✓ met" : "✗ not met", reason ? `${text} (${reason})` : text]);
      }
    }
    table(parent, "What was checked", [["component"], ["counts"], ["result"], ["check"]], rows);
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

  function button(parent, text, label, number) {
    const made = put(parent, "button", text);
    made.type = "button";
    made.setAttribute("aria-label", label);
    made.disabled = number === undefined;
    if (number !== undefined) made.addEventListener("click", () => go(number, "replaceState"));
    return made;
  }

  const order = Array.from(document.querySelectorAll("[id^='data-']"), (each) => Number(each.id.slice(5)));
  const kept = new Set(order);

  function head(number) {
    const bar = put(sheet, "div", null, "bar-top");
    const row = document.getElementById("trial-" + number);
    const group = row.closest("details").querySelector("summary").textContent.split(": ")[0];
    const title = put(bar, "h2", null);
    title.id = "trial-title";
    title.tabIndex = -1;
    title.append(row.cells[0].textContent, " ");
    put(title, "span", `${group}, ${row.cells[1].textContent.trim()}`, "muted");
    const place = order.indexOf(number);
    button(bar, "←", "The trial before", order[place - 1]);
    button(bar, "→", "The next trial", order[place + 1]);
    const close = button(bar, "Close", "Close");
    close.disabled = false;
    close.addEventListener("click", () => sheet.close());
    return title;
  }

  async function open(number) {
    let trial;
    let problem = null;
    try {
      trial = await unpack(number);
    } catch (error) {
      problem = error;
    }
    if (wanted() !== number) return;
    shown = number;
    sheet.replaceChildren();
    const title = head(number);
    const inside = put(sheet, "div", null, "inside");
    if (problem) {
      put(inside, "p", `This browser could not unpack the conversation (${problem.message}). A browser of 2023 or later can; trials.jsonl has it too.`);
    } else {
      for (const part of [why, (to, found) => gantt(to, found.timeline), conversation, checks, evaluations]) part(inside, trial);
    }
    if (!sheet.open) sheet.showModal();
    sheet.scrollTop = 0;
    title.focus({ preventScroll: true });
  }

  function wanted() {
    const found = /^#trial-(\d+)$/.exec(location.hash);
    return found && kept.has(Number(found[1])) ? Number(found[1]) : null;
  }

  function go(number, how) {
    // Following the link itself would open the list and scroll to its row, behind the sheet.
    history[how](null, "", "#trial-" + number);
    follow();
  }

  function follow() {
    const number = wanted();
    if (number !== null) {
      if (number !== shown) open(number);
    } else if (sheet.open) {
      sheet.close();
    }
  }

  sheet.addEventListener("close", () => {
    shown = null;
    if (wanted() !== null) history.replaceState(null, "", "#trials");
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#trial-']");
    if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const number = Number(link.hash.slice(7));
    if (!kept.has(number)) return;
    event.preventDefault();
    go(number, "pushState");
  });
  window.addEventListener("popstate", follow);
  follow();
})();
