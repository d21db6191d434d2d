"""Blind texts of conversations for people to label, and the labels that they give.

Reads results files as plain JSON: none of the code whose rules are measured takes part.
"""

import csv
import gzip
import json
import random
import textwrap
from dataclasses import dataclass, field
from pathlib import Path

KINDS = ("revealed", "invented", "condition", "left_early", "agent_work")
LABELS = ("no", "possible", "yes")
COLUMNS = ("conversation", *KINDS, "quote")
README, TEMPLATE = "README.md", "labels.csv"

HOW_TO_LABEL = """\
# Is the simulated user at fault?

Each file `c*.txt` is one conversation between a customer and a service agent. A language model
played the customer. First come the instructions that it had, then all that the two sides said, as
the customer saw it. Lines that begin with "customer calls" are tools that the customer ran.

Judge the *customer* only, by its instructions. How well the agent did does not matter, and you are
not told. Work alone: do not look at another reader's labels, at the key, or at anything else about
these conversations.

Every customer had these rules beside its instructions: one message at a time, in its own words; what
the instructions do not say is unknown to it and must not be made up; details are given when asked
for; it ends the conversation with ###STOP### once its goal is met or cannot be met, with ###TRANSFER###
once it was handed over, and with ###OUT-OF-SCOPE### where the instructions do not say how to go on.

Give each conversation one label for each of the five kinds:

- `revealed`: it said something that its instructions tell it to hold back (for good, or until a
  condition is met that was not), or showed that it is played (recited its instructions as such,
  mentioned a scenario or a test).
- `invented`: it stated a fact (number, name, date, address, product, reason, event) that neither its
  instructions nor the agent gave it, or one that contradicts its instructions. A guess that it calls a
  guess, a paraphrase, politeness and a plausible feeling are no inventions. A wrong thing that the
  instructions tell it to say is none either.
- `condition`: it broke or ignored a condition or an order of its instructions ("if the agent says ...,
  do ...", "only if ...", "do not accept ..."), although the conversation came to that point; or asked
  for, or agreed to, something else than its instructions want.
- `left_early`: it ended the conversation while the agent was waiting for an answer that it could have
  given, or before it raised a request of its instructions that it could still have raised.
- `agent_work`: it did what is the agent's to do: wrote as the agent, claimed to have looked up or
  changed something in the agent's systems, or told the agent the policy or the solution although its
  instructions do not hold it.

Labels: `yes` where you can quote the words that show it and no fair reader would object; `possible`
where you have a doubt; `no` otherwise. A fault counts even if it did no harm.

Fill in `labels.csv`, one line a conversation, and quote in its last column the words that show each
`yes` and `possible` (separate several by " / "). Leave no field empty except the quote.
"""


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """A conversation of a results file, as plain JSON."""

    file: str
    simulation: dict
    task: dict

    @property
    def name(self):
        return self.simulation["id"]


@dataclass(frozen=True, kw_only=True)
class Label:
    """One reader's labels of one conversation."""

    verdicts: dict = field(default_factory=dict)
    quote: str = ""


def with_model_user(paths):
    """Return the conversations of results files whose user was played by a language model."""
    found = []
    for path in paths:
        content = path.read_bytes()
        raw = json.loads(gzip.decompress(content) if path.suffix == ".gz" else content)
        if not ((raw.get("info") or {}).get("user_info") or {}).get("llm"):
            continue
        tasks = {task["id"]: task for task in raw["tasks"]}
        found += [
            Recorded(file=path.name, simulation=each, task=tasks[each["task_id"]])
            for each in raw["simulations"]
        ]
    return found


def write_sample(recorded, folder, *, size, seed):
    """Write blind texts of `size` conversations, drawn without replacement, and how to label them."""
    if size > len(recorded):
        raise SystemExit(f"--sample {size}: there are {len(recorded)} conversations; ask for fewer")
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise SystemExit(f"{folder} is not empty; name another folder with --out")
    by_id = sorted(recorded, key=lambda each: each.name)
    drawn = random.Random(seed).sample(by_id, size)  # noqa: S311 - nothing to keep secret
    names = [f"c{place:02}" for place in range(1, size + 1)]
    for name, each in zip(names, drawn, strict=True):
        (folder / f"{name}.txt").write_text(blind_text(name, each), "utf-8")
    key = {n: {"file": e.file, "id": e.name} for n, e in zip(names, drawn, strict=True)}
    key_of(folder).write_text(json.dumps(key, indent=1) + "\n", "utf-8")
    (folder / README).write_text(HOW_TO_LABEL, "utf-8")
    with (folder / TEMPLATE).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows([name, *[""] * (len(COLUMNS) - 1)] for name in names)


def blind_text(name, recorded):
    """Lay out the user's instructions and what it saw of the conversation."""
    scenario = recorded.task["user_scenario"]
    instructions = scenario["instructions"]
    parts = {"persona": scenario.get("persona")}
    parts |= instructions if isinstance(instructions, dict) else {"instructions": instructions}
    lines = [f"Conversation {name}", "", "INSTRUCTIONS OF THE CUSTOMER"]
    for title, text in parts.items():
        if text and title != "domain":
            lines += [f"{title.replace('_', ' ').capitalize()}:", textwrap.indent(text, "  ")]
    return "\n".join([*lines, "", "CONVERSATION", *_said(recorded), ""])


def _said(recorded):
    for place, message in enumerate(recorded.simulation["messages"]):
        text = (message.get("content") or "").strip()
        if message["role"] == "tool":
            if message.get("requestor") == "user":
                yield f"[{place}] the customer's tool answers: {text}"
            continue
        by_user = message["role"] == "user"
        if text:
            yield f"[{place}] {'CUSTOMER' if by_user else 'AGENT'}: {text}"
        for call in message.get("tool_calls") or () if by_user else ():
            yield f"[{place}] customer calls {call['name']} {json.dumps(call['arguments'])}"


def read_labels(path, names):
    """Return the labels of a file by conversation; every name must be there, once."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    labels = {}
    for number, row in enumerate(rows, start=2):
        if row.get("conversation") in labels or row.get("conversation") not in names:
            raise SystemExit(f"{path}:{number}: unknown or repeated {row.get('conversation')!r}")
        verdicts = {kind: (row.get(kind) or "").strip().lower() for kind in KINDS}
        wrong = {kind: label for kind, label in verdicts.items() if label not in LABELS}
        if wrong:
            raise SystemExit(f"{path}:{number}: labels are {', '.join(LABELS)}; found {wrong}")
        labels[row["conversation"]] = Label(verdicts=verdicts, quote=row.get("quote") or "")
    if missing := sorted(set(names) - labels.keys()):
        raise SystemExit(f"{path} does not label {', '.join(missing)}")
    return labels


def key_of(folder: Path):
    """Return the path of a sample's key, which lies beside its folder, not in it."""
    return folder.with_name(f"{folder.name}.key.json")


def read_key(folder: Path):
    """Return the file and id of each conversation of a sample, by its blind name."""
    return json.loads(key_of(folder).read_text("utf-8"))
