"""Which domains can be loaded."""

import pytest

from tau_bridge.errors import UnknownDomainError
from tau_bridge.tau2.data import open_source
from tau_bridge.tau2.domains import load_domain


def test_an_unknown_domain_cannot_be_loaded(mock_folder):
    with pytest.raises(UnknownDomainError):
        load_domain(open_source(mock_folder), "retail")
