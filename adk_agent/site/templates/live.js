"use strict";
// Shows a running evaluation as its events come. Every text is put in as a text node.
(() => {
  const MOST_ENDED = 100;
  const around = document.getElementById("conversations");
  const connection = document.getElementById("connection");
  let shown = new Map();

  function put(parent, tag, text, classes) {
    const made = document.createElement(tag);
    if (classes) made.className = classes;
    if (text !== undefined && text !== null) made.append(text);
    parent.append(made);
    return made;
  }

  function said(parent, text) {
    if (text.length <= 700 && text.split("\n").length <= 12) return put(parent, "p", text, "said");
    const made = put(parent, "details");
    const line = text.replace(/\s+/g, " ").trim();
    put(made, "summary", line.length > 160 ? line.slice(0, 159) + "…" : line);
    return put(made, "p", text, "said");
  }

  function note(text) {
    let made = document.getElementById("note");
    if (!made) {
      made = put(connection, "span", null);
      made.id = "note";
    }
    made.textContent = text ? " · " + text : "";
  }

  const hear = {
    begin() {
      around.replaceChildren();
      shown = new Map();
      note("live");
    },
    trial(told) {
      const talk = put(around, "details", null, "talk");
      talk.open = shown.size < 2;
      const summary = put(talk, "summary", told.agent + " ");
      put(summary, "span", told.title, "muted");
      const turns = put(talk, "ol", null, "turns");
      turns.tabIndex = 0;
      turns.setAttribute("aria-label", "Conversation of " + told.agent + ", " + told.title);
      shown.set(told.id, { talk, turns, steps: new Map() });
    },
    began(told) {
      const trial = shown.get(told.id);
      if (!trial) return;
      const turns = trial.turns;
      const follows = turns.scrollTop + turns.clientHeight >= turns.scrollHeight - 40;
      const line = put(turns, "li", null, told.kind === "agent" ? "" : "call");
      put(line, "p", `${told.from} to ${told.to}${told.name && told.name !== told.to ? ": " + told.name : ""}`, "who");
      if (told.asked) said(line, told.asked);
      const waits = put(line, "p", "waiting for the answer", "who waits");
      trial.steps.set(told.step, { line, waits, to: told.to });
      if (follows) turns.scrollTop = turns.scrollHeight;
    },
    ended(told) {
      const trial = shown.get(told.id);
      const step = trial && trial.steps.get(told.step);
      if (!step) return;
      const turns = trial.turns;
      const follows = turns.scrollTop + turns.clientHeight >= turns.scrollHeight - 40;
      step.waits.classList.remove("waits");
      step.waits.textContent = told.error === null ? `answer of ${step.to}, ${told.took}` : `failed after ${told.took}`;
      said(step.line, (told.error === null ? told.answered : told.error) || "");
      if (follows) turns.scrollTop = turns.scrollHeight;
    },
    full(told) {
      const trial = shown.get(told.id);
      if (trial) put(trial.talk, "p", "This conversation is longer than what is shown while it goes on.", "note");
    },
    over(told) {
      const trial = shown.get(told.id);
      if (!trial) return;
      shown.delete(told.id);
      for (const waits of trial.turns.querySelectorAll(".waits")) waits.textContent = "the results have the rest";
      // What somebody may be reading stays; of the others there would be hundreds.
      if (trial.talk.open) trial.talk.classList.add("over");
      else trial.talk.remove();
      const over = around.querySelectorAll(".over");
      if (over.length > 3) over[0].remove();
      const next = [...shown.values()];
      if (next.length && !next.some((each) => each.talk.open)) next[0].talk.open = true;
    },
    outcome(told) {
      const ended = document.getElementById("ended");
      const line = document.createElement("li");
      line.append(`${told.trial}: ${told.outcome}${told.why ? ". " + told.why : ""}`);
      ended.prepend(line);
      while (ended.children.length > MOST_ENDED) ended.lastElementChild.remove();
    },
    status(told) {
      const status = document.getElementById("status");
      status.replaceChildren();
      put(status, "strong", told.state);
      status.append(` ${told.done} of ${told.total} trials played${told.left ? ", about " + told.left + " left" : ""}${told.problem ? ": " + told.problem : ""}`);
      const scores = document.getElementById("scores");
      scores.replaceChildren();
      for (const line of told.scores) put(scores, "li", line);
    },
    problem(told) {
      note(told.message);
    },
    end() {
      source.close();
      note("the run has ended");
    },
  };

  const source = new EventSource(around.dataset.events);
  for (const [name, take] of Object.entries(hear)) {
    source.addEventListener(name, (event) => {
      take(JSON.parse(event.data));
      document.getElementById("nothing").hidden = shown.size > 0;
    });
  }
  source.onerror = () => note(source.readyState === EventSource.CLOSED ? "not followed any more: reload the page" : "connecting again");
})();
