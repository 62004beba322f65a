from tests.pages.conftest import _no_cache_between_tests, world

__all__ = ["_no_cache_between_tests", "world"]
