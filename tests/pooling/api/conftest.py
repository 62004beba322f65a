from tests.pages.conftest import _no_cache_between_tests, sign_in, world

__all__ = ["_no_cache_between_tests", "sign_in", "world"]
