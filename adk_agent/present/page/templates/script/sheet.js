// The sheet with a trial. Its address is #trial-3, or #trial-3/turn-7 for a part of it.
const sheet = document.getElementById("trial");
const ADDRESS = /^#trial-(\d+)(?:\/([a-z]+(?:-\d+)?))?$/;
const order = Array.from(document.querySelectorAll("[id^='data-']"), (each) => Number(each.id.slice(5)));
const kept = new Set(order);
let shown = null;

function wanted(hash) {
  const found = ADDRESS.exec(hash);
  return found && kept.has(Number(found[1])) ? { number: Number(found[1]), part: found[2] } : null;
}

function towards(bar, text, label, number) {
  const made = pressable(bar, text, () => go("#trial-" + number, "replaceState"));
  made.setAttribute("aria-label", label);
  made.disabled = number === undefined;
}

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
  towards(bar, "←", "The trial before", order[place - 1]);
  towards(bar, "→", "The next trial", order[place + 1]);
  pressable(bar, "Close", () => sheet.close());
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
  const now = wanted(location.hash);
  if (now?.number !== number) return;
  shown = number;
  sheet.replaceChildren();
  const title = head(number);
  const inner = put(sheet, "div", null, "inside");
  if (problem) {
    put(inner, "p", unreadable(problem));
  } else {
    for (const part of [why, repairs, usage, waterfall, conversation, checks, evaluations]) part(inner, trial, number);
    if (trial.chaos) underFaults(inner, trial);
  }
  if (!sheet.open) sheet.showModal();
  sheet.scrollTop = 0;
  title.focus({ preventScroll: true });
  if (now.part) reveal(now.part);
}

function reveal(part) {
  const found = document.getElementById(part);
  if (!found || !sheet.contains(found)) return;
  for (const each of sheet.querySelectorAll(".cited")) each.classList.remove("cited");
  const fold = found.closest("details") ?? found.querySelector("details");
  if (fold) fold.open = true;
  found.classList.add("cited");
  found.tabIndex = -1;
  found.scrollIntoView({ block: "center" });
  (found.querySelector("summary") ?? found).focus({ preventScroll: true });
}

function go(hash, how) {
  // Following the link itself would open the list and scroll to its row, behind the sheet.
  history[how](null, "", hash);
  follow();
}

function follow() {
  const now = wanted(location.hash);
  if (now === null) {
    if (sheet.open) sheet.close();
  } else if (now.number !== shown) {
    open(now.number);
  } else if (now.part) {
    reveal(now.part);
  }
}

sheet.addEventListener("close", () => {
  shown = null;
  if (wanted(location.hash) !== null) history.replaceState(null, "", "#trials");
});
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='#trial-']");
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  if (wanted(link.hash) === null) return;
  event.preventDefault();
  go(link.hash, "pushState");
});
window.addEventListener("popstate", follow);
follow();
