"""ResultsInterpreter: prose that can be believed, and what stands in its place."""

import pytest

from adk_agent.results.digest import digest_of, template_prose
from adk_agent.results.markdown import explained
from tests.fakes.adk_model import ScriptedModel

pytestmark = pytest.mark.usefixtures("quick_start")

SENTENCE = "Evaluate the bundled null agent on two mock tasks"


def answering(answer):
    return ScriptedModel(answer=answer)


@pytest.mark.parametrize(
    ("model", "cause"),
    [
        (answering("A brilliant 97 percent."), "numbers that are not in the report (97)"),
        (answering("pass^1 was 0.123."), "numbers that are not in the report (0.123)"),
        (answering("It passed 5 of 5."), "numbers that are not in the report (5 of 5)"),
        (answering(" "), "an empty answer"),
        (ScriptedModel(answer=None), "an error (ConnectionError)"),
    ],
)
async def test_prose_that_cannot_be_believed_is_replaced_by_the_template(
    pipeline, ask, markdown, model, cause
):
    result, _ = await ask(pipeline(interpreter=model), SENTENCE)
    assert result.problem is None
    assert "## Summary" in result.interpretation
    assert cause in result.interpretation
    assert result.interpretation in markdown()
    assert "_Interpretation by rules._" in markdown()


async def test_prose_with_the_reports_own_numbers_is_kept(pipeline, ask, markdown):
    result, _ = await ask(
        pipeline(interpreter=answering("It passed 0 of 2 trials, 0.0 %.")), SENTENCE
    )
    assert result.interpretation == "It passed 0 of 2 trials, 0.0 %."
    assert f"{result.interpretation}\n\n_Interpretation by llm:tiny._" in markdown()


async def test_without_a_model_the_digest_is_worded_by_the_template(pipeline, ask, markdown):
    result, _ = await ask(pipeline(), SENTENCE)
    assert result.interpretation == template_prose(digest_of(result.report))
    assert markdown() == explained(result.report)
