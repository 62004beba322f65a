"""Licences by SPDX: what is taken, what is suggested, what they are called at Hugging Face."""

from __future__ import annotations

import pytest

from core.errors import UserError
from evaluation.labels.licences import check_licence, hugging_face, in_words, is_spdx, suggestions


@pytest.mark.parametrize(
    ("text", "licence"),
    [
        ("CC-BY-4.0", "CC-BY-4.0"), (" cc-by-sa-4.0 ", "CC-BY-SA-4.0"), ("mit or apache-2.0", "MIT OR Apache-2.0"),
        ("GPL-2.0-only WITH Classpath-exception-2.0", "GPL-2.0-only WITH Classpath-exception-2.0"),
        ("licenseref-Acme", "LicenseRef-Acme"), ("other:  ask Ada ", "other: ask Ada"), ("other:", ""), ("", ""),
    ],
)  # fmt: skip
def test_spdx_own_names_and_marked_text_are_taken(text, licence):
    assert check_licence(text) == licence
    assert check_licence(licence) == licence
    assert is_spdx(licence) == (licence not in ("other: ask Ada", ""))


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("CC BY 4.0", ["CC-BY-4.0"]), ("CC0", ["CC0-1.0"]), ("MIT License", ["MIT"]), ("odbl", ["ODbL-1.0"]),
        ("Apache License, Version 2.0", ["Apache-2.0"]), ("GPLv3", ["GPL-3.0-only", "GPL-3.0-or-later"]),
        ("Creative Commons Attribution-NonCommercial-NoDerivatives 4.0 International", ["CC-BY-NC-ND-4.0"]),
        ("https://creativecommons.org/licenses/by-sa/4.0/", ["CC-BY-SA-4.0"]),
        ("https://creativecommons.org/publicdomain/zero/1.0/", ["CC0-1.0"]),
        ("BSD", ["BSD-3-Clause", "BSD-2-Clause", "BSD-3-Clause-Clear"]),
        ("CC-BY", ["CC-BY-4.0", "CC-BY-3.0", "CC-BY-2.5"]), ("MIT AND", []), ("xyzzy", []), ("©", []),
    ],
)  # fmt: skip
def test_other_texts_are_refused_with_what_they_may_mean(text, meant):
    assert suggestions(text) == meant
    with pytest.raises(UserError) as caught:
        check_licence(text)
    told = f"Did you mean {' or '.join(meant)}? " if meant else ""
    assert str(caught.value) == (
        f"Licence {text!r} is not an SPDX identifier or expression. {told}"
        "Terms of your own are LicenseRef-NAME, or 'other:' and then any text or address."
    )


@pytest.mark.parametrize(
    ("licence", "named"),
    [
        ("CC-BY-4.0", {"license": "cc-by-4.0"}), ("CC0-1.0", {"license": "cc0-1.0"}), ("ODbL-1.0", {"license": "odbl"}),
        ("GPL-3.0-or-later", {"license": "gpl-3.0"}), ("MIT OR Apache-2.0", {"license": ["mit", "apache-2.0"]}),
        ("MIT AND Apache-2.0", {"license": "other", "license_name": "MIT AND Apache-2.0"}),
        ("CC-BY-1.0", {"license": "other", "license_name": "CC-BY-1.0"}),
        ("LicenseRef-Acme", {"license": "other", "license_name": "LicenseRef-Acme"}),
        ("other: ask Ada", {"license": "other", "license_name": "ask Ada"}), ("", {"license": "unknown"}),
    ],
)  # fmt: skip
def test_names_at_hugging_face(licence, named):
    assert hugging_face(licence) == named


def test_the_word_that_marks_free_text_is_not_shown():
    assert [in_words(text) for text in ("other: ask Ada", "MIT", "")] == ["ask Ada", "MIT", ""]
