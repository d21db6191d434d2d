"""What fuzzing found breaks nothing any more, and neither do the inputs that it begins from."""

from pathlib import Path

import pytest

from tests.fuzzing.targets import TARGETS, seeds

CORPUS = Path(__file__).parent / "corpus"
FOUND = sorted(path.relative_to(CORPUS) for path in CORPUS.glob("*/*"))

pytestmark = pytest.mark.filterwarnings("default::pytest.PytestUnraisableExceptionWarning")


@pytest.mark.parametrize("path", FOUND, ids=str)
def test_an_input_that_was_found_is_read_or_refused(path):
    TARGETS[path.parts[0]]((CORPUS / path).read_bytes())


@pytest.mark.parametrize("target", TARGETS)
def test_whole_inputs_are_read(target):
    for seed in seeds(target):
        TARGETS[target](seed)


@pytest.mark.parametrize("target", TARGETS)
def test_nothing_is_read_or_refused(target):
    TARGETS[target](b"")
