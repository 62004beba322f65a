"""The extras of the package and the requirements of the checkout say the same."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def pins(file: str) -> dict[str, Requirement]:
    lines = (line.split("#")[0].strip() for line in (ROOT / file).read_text(encoding="utf-8").splitlines())
    found = [Requirement(line) for line in lines if line and not line.startswith("-")]
    return {re.sub(r"[-_.]+", "-", one.name).lower(): one for one in found}


def test_base_site_and_train_are_the_requirements_of_the_site():
    extras = PROJECT["optional-dependencies"]
    base = {one.name: one for one in map(Requirement, PROJECT["dependencies"])}
    more = [Requirement(one) for extra in ("site", "train") for one in extras[extra]]
    named = {re.sub(r"[-_.]+", "-", one.name).lower(): one for one in more}
    required = pins("requirements.txt")
    assert set(base) | set(named) == set(required) and len(base) + len(more) == len(required)
    for name, one in named.items():
        assert str(one) == str(required[name])
    for name, one in base.items():
        [pin] = required[name].specifier
        assert one.specifier.contains(pin.version), f"{one} does not allow {required[name]}"


def test_the_library_needs_neither_django_nor_torch():
    assert {Requirement(one).name for one in PROJECT["dependencies"]} == {"numpy", "pandas", "scipy"}
    torch = [one for extra in PROJECT["optional-dependencies"].values() for one in extra if one.startswith("torch")]
    assert torch == ["torch==2.13.0"] and torch[0] in PROJECT["optional-dependencies"]["train"]


def test_what_is_optional_is_tested_in_the_same_version():
    [sentry] = PROJECT["optional-dependencies"]["sentry"]
    assert sentry == str(pins("requirements-dev.txt")["sentry-sdk"])
    [sso] = PROJECT["optional-dependencies"]["sso"]
    assert sso == str(pins("requirements-dev.txt")["django-allauth"])


def test_each_pin_is_exact_and_named_once():
    site, development = pins("requirements.txt"), pins("requirements-dev.txt")
    assert not set(site) & set(development)
    for one in (*site.values(), *development.values()):
        assert [part.operator for part in one.specifier] == ["=="], one


@pytest.mark.parametrize("lock", ["site", "cpu", "cuda"])
def test_locks_hold_the_same_versions_with_their_hashes(lock: str):
    text = (ROOT / "deploy" / "locks" / f"{lock}.txt").read_text(encoding="utf-8")
    locked = dict(re.findall(r"^([\w.-]+)(?:\[\w,-]+)?==([^ ;\\]+)", text, re.MULTILINE))
    entries = re.split(r"^(?=[\w.-]+(?:\[[\w,-]+\])?==)", text, flags=re.MULTILINE)[1:]
    assert len(entries) > 50 and all("--hash=sha256:" in entry for entry in entries)
    train = {"torch", "pykeen", "class-resolver", "safetensors", "numba"}
    left_out = {"site": train, "cpu": {"torch"}, "cuda": set()}[lock]
    for name, one in pins("requirements.txt").items():
        if name not in left_out:
            [pin] = one.specifier
            assert locked.get(name) == pin.version, f"{name} in deploy/locks/{lock}.txt: run make locks"
    assert not left_out & {"torch"} & set(locked)
    assert lock == "cuda" or not [name for name in locked if name.startswith("nvidia")]
