"""The catalogue of behaviours: how agents answer, and what must come of each.

It is data: a name, an agent, and the reply's text or the class of the error. Tests play all of it.
May import the rest of `tau_bridge.testing`, and the errors that it names.
"""

from tau_bridge.testing.behaviours.faults import FAULTS
from tau_bridge.testing.behaviours.shapes import SHAPES
from tau_bridge.testing.behaviours.table import Behaviour

CATALOGUE: tuple[Behaviour, ...] = (*SHAPES, *FAULTS)
"""Every behaviour, each with a name of its own."""

__all__ = ["CATALOGUE", "Behaviour"]
