import pytest

from core.files.file_names import file_stem


@pytest.mark.parametrize(
    ("parts", "stem"),
    [
        (("demo", "demo-v2"), "demo-v2"),
        (("demo", "v2"), "demo-v2"),
        (("demo", "demonstration"), "demo-demonstration"),
        (("demo", "stability", "stability-questions"), "demo-stability-questions"),
        (("demo", "demo"), "demo"),
    ],
)
def test_no_part_of_a_file_name_is_repeated(parts: tuple[str, ...], stem: str):
    assert file_stem(*parts) == stem
