from tests.evaluation.views.conftest import sign_in

__all__ = ["sign_in"]
