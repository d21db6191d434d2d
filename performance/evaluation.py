"""A whole evaluation: all base tasks of three domains by the oracle, over A2A, one trial each.

Prints wall time, the CPU time and peak memory of the assessor's process, and the scores.
Uses TAU2_DATA_DIR where it is set, else the installed package's data.

Usage: python performance/evaluation.py [CONCURRENCY ...]
"""

import os
import subprocess
import sys
import tempfile
import time

REQUEST = "Evaluate the bundled oracle agent on all airline, all retail and all telecom tasks"


def measure(concurrency):
    with tempfile.TemporaryDirectory() as folder:
        command = [
            *(sys.executable, "-m", "adk_agent.cli.main", "run", REQUEST),
            *("--offline", "--quiet", "--max-concurrency", str(concurrency)),
            *("--results-dir", folder),
        ]
        started = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall_s = time.perf_counter() - started
    assert process.returncode == 0, output
    return wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, output


def main():
    levels = [int(argument) for argument in sys.argv[1:]] or [1, 4, 8]
    print(f"{'at once':>8}{'wall s':>9}{'CPU s':>8}{'peak MB':>9}")
    for level in levels:
        wall_s, cpu_s, peak_mb, output = measure(level)
        print(f"{level:>8}{wall_s:>9.1f}{cpu_s:>8.1f}{peak_mb:>9.0f}")
    print(output)


if __name__ == "__main__":
    main()
