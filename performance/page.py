"""What a page of 1,000 trials costs: python performance/page.py [TRIALS] [--repeat N]

A run of two agents is made up from bundled conversations of the airline domain, repeated until there
are enough, each with thirty messages of its own, as a run with a language model would leave it.
Told are medians: CPU seconds to write the page (one process that waits for nobody), its MB, and
seconds until headless Chromium has it open and painted, and shows a trial. Without playwright and
Chromium only the writing is measured.

Exits with 1 where writing takes 4 s or more, the page has 20 MB or more, or the fastest opening
takes 2 s or more: on a machine that is shared, the others measure the neighbours.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from adk_agent.core.settings import variables
from adk_agent.present.page.writing import write_page
from adk_agent.results.report import EvaluationReport
from adk_agent.results.summary import tables
from adk_agent.runs.store import RunManifest, TrialRecord, load_manifest
from tau_bridge.benchmarks import open_benchmarks

MAX_WRITE_S, MAX_MB, MAX_OPEN_S = 4.0, 20.0, 2.0
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
REQUEST = json.dumps(
    {
        "participants": {"null": "builtin:null", "oracle": "builtin:oracle"},
        "config": {"domain": "airline", "num_tasks": 25},
    }
)
OPENED = """async () => {
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  return performance.now() / 1000;
}"""


def played(folder: Path) -> str:
    """The id of a real run of fifty trials."""
    code = "import sys; from adk_agent.cli.main import console; console()"
    command = [sys.executable, "-c", code, "run", REQUEST, "--offline", "--quiet"]
    subprocess.run([*command, "--results-dir", str(folder)], check=True, stdout=subprocess.DEVNULL)
    [run] = folder.iterdir()
    return run.name


def lengthened(record: TrialRecord, rng: random.Random) -> TrialRecord:
    """The trial with some thirty messages, none like the other, and steps to match."""
    words = "".join(m.get("content") or "" for m in record.messages).split() or ["word"]
    messages = list(record.messages)
    steps = list(record.trace.steps)
    while len(messages) < 30:
        call = {"id": f"c{len(messages)}", "name": "search_direct_flight"}
        row = {f"field_{n}": "".join(rng.choices("abcdefghij0123456789", k=8)) for n in range(30)}
        said = " ".join(rng.choices(words, k=60))
        messages += [
            {"role": "user", "content": said},
            {"role": "assistant", "tool_calls": [{**call, "arguments": {"date": said[:10]}}]},
            {"role": "tool", "id": call["id"], "content": json.dumps(row)},
            {"role": "assistant", "content": said[::-1]},
        ]
        if steps:
            steps.append(steps[0].model_copy(update={"step_id": f"more-{len(messages)}"}))
    trace = record.trace.model_copy(update={"steps": tuple(steps)})
    return record.model_copy(update={"messages": tuple(messages), "trace": trace})


def enlarged(folder: Path, run: str, trials: int) -> str:
    """The id of a run with so many trials, made of those of another."""
    manifest = load_manifest(folder, run)
    lines = (folder / run / "trials.jsonl").read_text().splitlines()
    records = [TrialRecord.model_validate_json(line) for line in lines]
    participants, [planned] = manifest.plan.participants, manifest.plan.tasks
    per_task = -(-trials // (len(participants) * len(planned.task_ids)))
    seeds = tuple(range(per_task))
    plan = manifest.plan.model_copy(update={"num_trials": per_task})
    rng = random.Random(7)  # noqa: S311 - the same run every time
    name = "20260101-000000-bench0"
    target = folder / name
    target.mkdir()
    rows = []
    with (target / "trials.jsonl").open("w") as lines_out:
        for record in records:
            for trial in seeds:
                row = record.row.model_copy(update={"trial": trial, "seed": seeds[trial]})
                rows.append(row)
                made = lengthened(record.model_copy(update={"row": row}), rng)
                lines_out.write(made.model_dump_json() + "\n")
    write_rest(target, name, manifest.model_copy(update={"plan": plan, "seeds": seeds}), rows)
    return name


def write_rest(target: Path, name: str, manifest: RunManifest, rows: list) -> None:
    """The manifest, the status and the report of the made-up run."""
    manifest = manifest.model_copy(update={"run_id": name})
    order = {p.address: n for n, p in enumerate(manifest.plan.participants)}
    ids = {task: n for n, task in enumerate(manifest.plan.tasks[0].task_ids)}
    rows.sort(key=lambda row: (order[row.participant], ids[row.task_id], row.trial))
    (target / "manifest.json").write_text(manifest.model_dump_json())
    now = manifest.created_at.isoformat()
    status = {"run_id": name, "state": "complete", "request": "", "started_at": now}
    (target / "status.json").write_text(json.dumps({**status, "updated_at": now}))
    report = EvaluationReport(
        run_id=name,
        status="complete",
        request=manifest.request,
        plan=manifest.plan,
        created_at=manifest.created_at,
        versions=manifest.versions,
        **tables(rows, manifest.plan, manifest.data, manifest.references),
        trials=tuple(rows),
        evaluations=(),
    )
    (target / "report.json").write_text(report.to_json())


async def opened_s(page: Path, repeat: int) -> tuple[list[float], list[float]]:
    """Seconds until the page is painted, and until a trial is shown."""
    from playwright.async_api import async_playwright

    first, trial = [], []
    async with async_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-gpu"]
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        for _ in range(repeat):
            tab = await browser.new_page()
            await tab.goto(page.as_uri())
            first.append(await tab.evaluate(OPENED))
            begin = time.perf_counter()
            await tab.evaluate("document.querySelector('a.cell').click()")
            await tab.wait_for_selector("dialog[open] .turns li")
            trial.append(time.perf_counter() - begin)
            await tab.close()
        await browser.close()
    return first, trial


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("trials", nargs="?", type=int, default=1_000)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        run = enlarged(folder, played(folder), options.trials)
        kept_mb = (folder / run / "trials.jsonl").stat().st_size / 1e6
        benchmarks = open_benchmarks(variables)
        writes, waits = [], []
        for _ in range(options.repeat):
            begin, begin_cpu = time.perf_counter(), time.process_time()
            page = write_page(folder, run, benchmarks=benchmarks)
            writes.append(time.process_time() - begin_cpu)
            waits.append(time.perf_counter() - begin)
        write_s, size_mb = statistics.median(writes), page.stat().st_size / 1e6
        peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{options.trials} trials, {kept_mb:.1f} MB of trials.jsonl")
        waited_s = statistics.median(waits)
        print(f"written in {write_s:.2f} s of CPU time ({waited_s:.2f} s waited), {size_mb:.2f} MB")
        print(f"largest resident size {peak_mb:.0f} MB")
        open_s = 0.0
        if CHROMIUM is None or importlib.util.find_spec("playwright") is None:
            print("opening is not measured: there is no Chromium, or no playwright")
        else:
            first, trial = asyncio.run(opened_s(page, options.repeat))
            open_s = min(first)
            print(
                f"open in {statistics.median(first):.2f} s (fastest {open_s:.2f} s), "
                f"a trial in {statistics.median(trial) * 1e3:.0f} ms"
            )
        print(f"bounds: {MAX_WRITE_S} s, {MAX_MB} MB, {MAX_OPEN_S} s")
    return int(write_s >= MAX_WRITE_S or size_mb >= MAX_MB or open_s >= MAX_OPEN_S)


if __name__ == "__main__":
    sys.exit(main())
