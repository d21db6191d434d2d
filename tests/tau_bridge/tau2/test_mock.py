"""The mock domain."""

import pytest

from tau_bridge.errors import DataError
from tau_bridge.tau2.mock import mock_blueprint


@pytest.mark.parametrize("database", [None, [], {"tasks": {}}, {"tasks": {}, "users": {}, "x": 1}])
def test_a_mock_database_that_is_none_is_a_data_error(database):
    with pytest.raises(DataError, match="MockDB"):
        mock_blueprint(database)
