"""The catalogue of behaviours: how agents answer, and what must come of each.

It is data: a name, an agent, and the reply's text or the class of the error. Tests play all of it.
May import the rest of `tests.fakes`, and the errors that it names.
"""

from tests.fakes.behaviours.faults import FAULTS
from tests.fakes.behaviours.shapes import SHAPES
from tests.fakes.behaviours.table import Behaviour

CATALOGUE: tuple[Behaviour, ...] = (*SHAPES, *FAULTS)
"""Every behaviour, each with a name of its own."""

__all__ = ["CATALOGUE", "Behaviour"]
