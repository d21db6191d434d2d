// The picture of a team: a line lists its calls, and the calls of a trial are stepped through.
const MOST_CALLS = 100;

function team(section) {
  const names = new Map(Array.from(section.querySelectorAll(".played li"), (each) => [Number(each.dataset.trial), each.textContent]));
  if (!names.size) return;
  const lines = Array.from(section.querySelectorAll(".connection"));
  const labels = lines.map((_, place) => section.querySelector(`[data-label="${place}"]`));
  const totals = labels.map((label) => label && Array.from(label.childNodes, (each) => each.cloneNode(true)));
  const callsOf = reader();
  let trial = null, calls = [], at = 0, chosen = null, turnOf = 0;

  section.querySelector(".graph").setAttribute("role", "group");
  const player = put(section, "div", null, "player");
  const choice = put(put(player, "label", "Trial "), "select");
  put(choice, "option", names.size === 1 ? "as a whole" : "all trials together").value = "";
  for (const [number, name] of names) put(choice, "option", name).value = number;
  const back = pressable(player, "←", () => show(at - 1));
  back.setAttribute("aria-label", "Previous call");
  const slider = put(player, "input");
  slider.type = "range";
  slider.min = 0;
  slider.setAttribute("aria-label", "Calls so far");
  const next = pressable(player, "→", () => {
    if (trial === null) choose(names.keys().next().value, 1);
    else show(at + 1);
  });
  next.setAttribute("aria-label", "Next call");
  const position = put(section, "p", null, "position");
  position.setAttribute("role", "status");
  const exchange = put(section, "div", null, "exchange");

  async function read(number) {
    try {
      return await callsOf(number);
    } catch (problem) {
      position.textContent = unreadable(problem);
      throw problem;
    }
  }

  async function choose(number, place) {
    const mine = ++turnOf;
    const found = number === null ? [] : await read(number);
    if (mine !== turnOf) return;
    [trial, calls] = [number, found];
    choice.value = number ?? "";
    slider.max = calls.length;
    show(place ?? calls.length);
    if (chosen !== null) listCalls();
  }

  function show(place) {
    at = Math.min(Math.max(place, 0), calls.length);
    slider.value = at;
    slider.disabled = trial === null;
    back.disabled = at === 0;
    next.disabled = trial !== null && at === calls.length;
    const now = at ? calls[at - 1] : null;
    const earlier = calls.slice(0, at);
    lines.forEach((line, number) => {
      const times = earlier.filter((each) => joins(line, each)).length;
      line.classList.toggle("dim", trial !== null && !times);
      line.classList.toggle("now", now !== null && joins(line, now));
      if (!labels[number]) return;
      if (trial === null) labels[number].replaceChildren(...totals[number]);
      else numbered(labels[number], totals[number], times);
    });
    const words = now ? `Call ${at} of ${calls.length}: ${described(now)}` : `Before the first of ${count(calls.length, "call")}.`;
    const all = names.size === 1 ? "The whole trial" : `All ${count(names.size, "trial")} together`;
    position.textContent = trial === null ? `${all}. Step through the calls with the arrows; choose a line to list its calls.` : words;
    slider.setAttribute("aria-valuetext", position.textContent);
    if (chosen === null) exchange.replaceChildren();
    if (chosen === null && now) texts(put(exchange, "div", null, "message"), trial, now);
  }

  function numbered(label, total, times) {
    const line = total[0].cloneNode();
    line.setAttribute("y", (Number(total[0].getAttribute("y")) + Number(total.at(-1).getAttribute("y"))) / 2);
    line.textContent = times ? times + "×" : "";
    label.replaceChildren(line);
  }

  async function listCalls() {
    const mine = ++turnOf;
    const line = lines[chosen];
    exchange.replaceChildren();
    const head = put(exchange, "div", null, "heading");
    put(head, "h4", `${line.dataset.from} to ${line.dataset.to}`);
    pressable(head, "Close", () => press(chosen, true));
    let listed = 0;
    for (const number of trial === null ? names.keys() : [trial]) {
      const found = (await read(number)).filter((each) => joins(line, each));
      if (mine !== turnOf) return;
      for (const each of found.slice(0, MOST_CALLS - listed)) folded(exchange, names.get(number), number, each);
      listed += found.length;
      if (listed > MOST_CALLS) {
        put(exchange, "p", `These are the first ${MOST_CALLS} calls. Choose a trial to see its own.`, "note");
        return;
      }
    }
    if (!listed) put(exchange, "p", "This trial has no such call.", "note");
  }

  function press(place, isClosing) {
    turnOf += 1; // what is being read for another list comes too late
    chosen = isClosing || place === chosen ? null : place;
    lines.forEach((line, number) => line.setAttribute("aria-pressed", number === chosen));
    if (chosen !== null) {
      listCalls();
      return;
    }
    lines[place].focus({ preventScroll: true });
    show(at);
  }

  lines.forEach((line, place) => {
    line.setAttribute("role", "button");
    line.setAttribute("aria-pressed", "false");
    line.setAttribute("aria-label", "Calls of " + line.querySelector("title").textContent);
    line.tabIndex = 0;
    for (const each of [line, labels[place]]) each?.addEventListener("click", () => press(place));
    line.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      press(place);
    });
  });
  slider.addEventListener("input", () => show(Number(slider.value)));
  choice.addEventListener("change", () => choose(choice.value === "" ? null : Number(choice.value)));
  show(0);
}

document.querySelectorAll(".team").forEach(team);
