"""litellm, loaded when a model is first called: importing it costs 5 s of CPU and 190 MB."""

from __future__ import annotations

import logging
import os
from typing import Any


def load_litellm() -> Any:
    """Import litellm, kept from the network and from writing to the terminal.

    It blocks for seconds the first time: call it in a thread.
    """
    # Without it litellm tries three times to download a price list while it is imported.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # noqa: TID251 - its only switch
    import litellm

    litellm.suppress_debug_info = True  # banners on every error
    logging.getLogger("LiteLLM").setLevel(logging.ERROR)
    return litellm
