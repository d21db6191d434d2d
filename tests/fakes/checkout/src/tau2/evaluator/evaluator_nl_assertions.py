"""Statements."""


class NLAssertionsEvaluator:
    @classmethod
    def evaluate_nl_assertions(cls, trajectory, statements):
        raise RuntimeError("no model is to be asked here")
