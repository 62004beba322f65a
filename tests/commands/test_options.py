"""Arguments of all commands: each has help, and an option means the same wherever it is."""

from __future__ import annotations

import argparse
from collections import defaultdict

import pytest
from django.core.management import get_commands, load_command_class
from django.core.management.base import BaseCommand, CommandParser

APPS = ("core", "pooling", "annotation", "evaluation")
OURS = sorted(name for name, app in get_commands().items() if app in APPS)
EVERYWHERE = set(BaseCommand().create_parser("manage.py", "x")._option_string_actions)
# options whose values differ for a reason
DIFFER = {
    "--order": "one of those that need no truth; replay_order compares several of all",
    "--density": "of one graph; a study makes several graphs",
    "--num-questions": "the theory reads its numbers itself, as its page does",
    "--set": "an order takes one setting at a time",
}


def parser_of(name: str) -> CommandParser:
    return load_command_class(get_commands()[name], name).create_parser("manage.py", name)


def arguments(name: str) -> list[argparse.Action]:
    return [action for action in parser_of(name)._actions if not EVERYWHERE & set(action.option_strings)]


@pytest.mark.parametrize("name", OURS)
def test_every_argument_has_help(name: str):
    command = load_command_class(get_commands()[name], name)
    assert command.help
    assert [action.option_strings or action.dest for action in arguments(name) if not action.help] == []


def taken(action: argparse.Action) -> str:
    """What an option takes, in a word, or its choices."""
    if action.nargs == 0:
        return "nothing"
    if action.choices:
        return ",".join(map(str, action.choices))
    kind = getattr(action.type, "__name__", "text")
    return {"int": "number", "positive": "number", "float": "number", "share": "number", "Path": "file"}.get(
        kind, "text"
    )


def test_an_option_takes_the_same_wherever_it_is():
    found = defaultdict(dict)
    for name in OURS:
        for action in arguments(name):
            if action.option_strings and action.help != argparse.SUPPRESS:
                found[action.option_strings[-1]].setdefault(taken(action), []).append(name)
    assert {option: uses for option, uses in found.items() if len(uses) > 1 and option not in DIFFER} == {}


OLD = [
    ("train_systems", ["g"], "--seeds", "--num-seeds", "3"),
    ("replay_order", ["p", "--truth", "f"], "--seeds", "--replays", "3"),
    ("replay_order", ["p", "--truth", "f"], "--batch", "--batch-size", "3"),
    ("evaluate", ["p"], "--seeds", "--training-seeds", "families"),
    ("probe", ["p"], "--seeds", "--training-seeds", "families"),
    ("open_campaign", ["p"], "--questions", "--batch-of", "single"),
    ("set_order", ["p"], "--questions", "--batch-of", "single"),
    ("open_world", [], "--questions", "--num-questions", "70"),
    ("open_world_study", ["s"], "--questions", "--num-questions", "70"),
    ("reusability", ["p"], "--share", "--judged-share", "0.5"),
]


@pytest.mark.parametrize(("name", "first", "old", "new", "value"), OLD)
def test_earlier_names_are_taken_and_not_listed(name: str, first: list[str], old: str, new: str, value: str):
    parser = parser_of(name)
    given = parser.parse_args([*first, new, value])
    assert parser.parse_args([*first, old, value]) == given != parser.parse_args(first)
    text = parser.format_help()
    assert f"{new} " in text and f"{old} " not in text.replace(new, "")
