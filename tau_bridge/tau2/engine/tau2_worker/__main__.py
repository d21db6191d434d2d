"""Starts the worker: `python .../tau2_worker/__main__.py [--data-dir FOLDER] [--probe]`."""

import importlib
import sys
from pathlib import Path

if __name__ == "__main__":
    package = Path(__file__).resolve().parent
    # The folder is on the path for this package alone: its neighbours are no modules of the engine's.
    sys.path[0] = str(package.parent)
    program = importlib.import_module(f"{package.name}.program")
    del sys.path[0]
    program.main()
