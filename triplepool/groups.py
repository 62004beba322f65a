"""Map the words of the console command to commands of manage.py: one entry for each verb; `resolve` reads the table.

A new command is one line in GROUPS. Nothing here needs Django, so that help is there at once.
"""

from difflib import get_close_matches
from typing import NamedTuple


class Verb(NamedTuple):
    """Name the command of a verb, what it does, and arguments that come before those of the person."""

    command: str
    about: str
    first: tuple[str, ...] = ()


class Group(NamedTuple):
    about: str
    verbs: dict[str, Verb]


class Call(NamedTuple):
    """Hold a command of manage.py with its arguments, and the words by which it was called."""

    command: str
    arguments: list[str]
    called: str


class Unknown(NamedTuple):
    """Hold what to tell instead of running a command: help that was asked for, or what is wrong."""

    message: str
    is_help: bool


def _rows(kind: str, about: str) -> dict[str, Verb]:
    """Return the verbs `list` and `show` of a kind of row."""
    return {
        "list": Verb("list", f"{about}, a line each; --json", (kind,)),
        "show": Verb("show", "shows one with all its fields; --json", (kind,)),
    }


def _kept(kind: str) -> dict[str, Verb]:
    return {
        "archive": Verb("archive", "archives one: lists no longer show it; --back", (kind,)),
        "remove": Verb("remove", "shows what would be deleted with one; --yes deletes it", (kind,)),
    }


GROUPS: dict[str, Group] = {
    "graph": Group("knowledge graphs", {
        "import": Verb("import_graph", "imports a folder, archive or file, or draws families"),
        **_rows("graph", "graphs"), **_kept("graph"),
    }),
    "system": Group("systems and their training", {
        "train": Verb("train_systems", "trains systems of a graph"),
        "import": Verb("import_model", "imports a model trained elsewhere"),
        **_rows("system", "systems"), **_kept("system"),
    }),
    "run": Group("runs: what systems returned", {
        "import": Verb("import_run", "imports a run made elsewhere"),
        "export": Verb("export_run", "exports a whole run"),
        "score": Verb("score_runs", "adds what runs still lack for a pool"),
        **_rows("run", "runs"),
    }),
    "pool": Group("pools", {
        "build": Verb("build_pool", "samples seed triples, pools and filters"),
        "import": Verb("import_pool", "imports a pool made elsewhere"),
        "filter": Verb("filter_pool", "changes the filters, until the campaign opens"),
        "extend": Verb("extend_pool", "extends a pool by depth, systems or seeds"),
        "freeze": Verb("freeze_pool", "freezes a pool: no more growth or filtering"),
        "report": Verb("pool_report", "counts by reason, category, system and depth"),
        **_rows("pool", "pools"), **_kept("pool"),
    }),
    "campaign": Group("campaigns: what people label, in which order", {
        "open": Verb("open_campaign", "opens a campaign: creates the items that people label"),
        "order": Verb("set_order", "chooses the order of judging, batches, a budget, a target"),
        "release": Verb("release_batch", "releases the next batch now"),
        "audit": Verb("draw_audit", "adds a sample of filtered triples to the items that people label"),
        "plan": Verb("plan", "says how sure the order of systems is, and how many labels and hours are left"),
        **_rows("campaign", "campaigns"),
    }),
    "person": Group("accounts and roles", {
        "add": Verb("add_person", "gives a person a role"),
        **_rows("person", "people"),
    }),
    "label": Group("labels and judgements", {
        "import": Verb("import_labels", "imports labels made elsewhere"),
        "simulate": Verb("simulate_annotators", "lets simulated people label a pool"),
        **_rows("label", "pooled triples with their current state (name the pool)"),
    }),
    "qrels": Group("qrels: judgements under a name", {
        "freeze": Verb("freeze_qrels", "freezes the current judgements"),
        "terms": Verb("edit_terms", "changes the terms of a test set in a new version of its card"),
        "import": Verb("import_qrels", "imports judgements made elsewhere as a label set"),
        **_rows("qrels", "qrels"),
    }),
    "evaluate": Group("measures and analyses", {
        "measures": Verb("evaluate", "prints the measures of every system of a pool"),
        "estimate": Verb("estimate", "estimates measures from a random sample of labels, with intervals"),
        "max-k": Verb("max_k", "prints precision, recall and F1 of systems that may return fewer than k answers"),
        "probe": Verb("probe", "prints PROBE: ranks by sharpness and robustness"),
        "open-world": Verb("open_world", "shows how missing answers bias a metric"),
        "study": Verb("open_world_study", "trains systems on family trees with missing facts"),
        "reusability": Verb("reusability", "leaves out each system and each family in turn"),
        "replay": Verb("replay_order", "replays the judging of a pool with known labels"),
        "paper": Verb("paper", "prints the tables of a paper for a pool"),
        **_rows("measure", "measures"),
    }),
    "export": Group("test sets and files for other tools", {
        "test-set": Verb("export_test_set", "exports a test set"),
        "import-test-set": Verb("import_test_set", "imports an exported test set, or one that was judged elsewhere"),
        "trec": Verb("export_trec", "exports topics, pool, qrels and runs in TREC format"),
        "topics": Verb("export_topics", "exports the questions of a pool"),
        **_rows("export", "zip files of test sets"),
    }),
    "job": Group("jobs", _rows("job", "jobs")),
}  # fmt: skip

# what belongs to no group
SINGLE: dict[str, Verb] = {
    "serve": Verb("serve", "serves the site and runs a local worker"),
    "work": Verb("work", "runs a worker for a site that is served elsewhere"),
    "migrate": Verb("migrate", "creates or updates the tables of the database; run it first"),
    "demo": Verb("demo", "shows the whole product on made-up families"),
    "chaos": Verb("chaos", "for development: checks that no label is lost whatever fails; needs a checkout"),
    "backup": Verb("backup", "writes database and files into one archive"),
    "restore": Verb("restore", "restores a backup into an empty place"),
    "housekeeping": Verb("housekeeping", "shows how much has had its time; --yes deletes it"),
}
HELP = ("-h", "--help", "help")
FLAT = {verb.command for group in GROUPS.values() for verb in group.verbs.values()} | {"changepassword"}


def resolve(words: list[str]) -> Call | Unknown:
    """Return the command that the words name, or what to tell; `triplepool import_graph …` works as in manage.py."""
    if not words or words[0] in HELP:
        return Unknown(_overview(), is_help=bool(words))
    name, *rest = words
    if name in SINGLE:
        return Call(SINGLE[name].command, rest, f"triplepool {name}")
    if name not in GROUPS and name in FLAT:
        return Call(name, rest, f"triplepool {name}")
    if name not in GROUPS:
        return Unknown(_no_such(name, [*GROUPS, *SINGLE, *FLAT], "triplepool --help lists the commands."), False)
    verbs = GROUPS[name].verbs
    if not rest or rest[0] in HELP:
        return Unknown(_group_help(name), is_help=bool(rest))
    if rest[0] not in verbs:
        if name in FLAT and not get_close_matches(rest[0], verbs):  # `evaluate` is a group and a command of manage.py
            return Call(name, rest, f"triplepool {name}")
        more = f"Verbs of {name}: {', '.join(verbs)}."
        return Unknown(_no_such(f"{name} {rest[0]}", [f"{name} {verb}" for verb in verbs], more), False)
    verb = verbs[rest[0]]
    return Call(verb.command, [*verb.first, *rest[1:]], f"triplepool {name} {rest[0]}")


def _no_such(asked: str, known: list[str], more: str) -> str:
    near = get_close_matches(asked, known, n=1)
    meant = f" Did you mean `triplepool {near[0]}`?" if near else ""
    return f"There is no command `triplepool {asked}`.{meant} {more}"


def _lines(rows: dict[str, str]) -> list[str]:
    width = max(map(len, rows))
    return [f"  {name:<{width}}  {about}" for name, about in rows.items()]


def _overview() -> str:
    return "\n".join([
        "usage: triplepool GROUP VERB …", "",
        *_lines({name: group.about for name, group in GROUPS.items()}), "",
        *_lines({name: verb.about for name, verb in SINGLE.items()}), "",
        "triplepool GROUP --help lists the verbs of a group, triplepool GROUP VERB --help the options of one.",
    ])  # fmt: skip


def _group_help(name: str) -> str:
    verbs = GROUPS[name].verbs
    return "\n".join([
        f"usage: triplepool {name} VERB …", "", f"{GROUPS[name].about}:", "",
        *_lines({verb: entry.about for verb, entry in verbs.items()}), "",
        f"triplepool {name} VERB --help says more.",
    ])  # fmt: skip
