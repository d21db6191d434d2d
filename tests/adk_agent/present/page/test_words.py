"""What the page calls states and failures."""

from typing import get_args

from adk_agent.present.page.verdict import ENDS
from adk_agent.present.page.words import CLASSES
from adk_agent.results.report import EvaluationReport
from evals.diagnosis import FailureKind
from tests.adk_agent.present.page.kept_run import INSTALLED


def test_every_class_component_and_status_has_a_name():
    assert set(get_args(FailureKind)) < set(CLASSES)
    domains = [INSTALLED.domain(name) for name in INSTALLED.domains]
    assert {each.name: set(each.meanings) for each in domains} == {
        each.name: set(each.components) for each in domains
    }
    status = EvaluationReport.model_fields["status"].annotation
    assert set(get_args(status)) == set(ENDS)
