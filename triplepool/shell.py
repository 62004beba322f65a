"""Run the console command `triplepool GROUP VERB …`; triplepool/groups.py says which command each verb is."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from triplepool.groups import Call, Unknown, resolve

FOLDER = Path(__file__).resolve().parent
NEEDS = "The commands need the site, which is not installed here: pip install 'triplepool[site,train]'."


def main(arguments: list[str] | None = None) -> None:
    """Run one command; exit codes are those of manage.py, and 2 where the words name no command."""
    words = sys.argv[1:] if arguments is None else arguments
    found = resolve(words)
    if isinstance(found, Unknown):
        with quiet_end():
            print(found.message, file=sys.stdout if found.is_help else sys.stderr, flush=True)
        raise SystemExit(0 if found.is_help else 2)
    put_site_on_path()
    run(found)


def put_site_on_path() -> None:
    """Put the site's folders first on the path of this process: in a wheel `_site`, else the checkout."""
    site = FOLDER / "_site" if (FOLDER / "_site").is_dir() else FOLDER.parent
    sys.path.insert(0, str(site))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")


def run(call: Call) -> None:
    """Run a command of manage.py; its help and its errors say the words by which it was called."""
    try:
        import django
        from django.core.management import get_commands, load_command_class
    except ImportError:
        print(NEEDS, file=sys.stderr)
        raise SystemExit(2) from None
    django.setup()
    command = load_command_class(get_commands()[call.command], call.command)
    group, _, verb = call.called.rpartition(" ")
    with quiet_end():
        command.run_from_argv([group, verb, *call.arguments])
        sys.stdout.flush()


@contextmanager
def quiet_end() -> Iterator[None]:
    """End without a traceback if the reader has seen enough, as in `triplepool pool report P | head`."""
    try:
        yield
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(141) from None  # as a program that is ended by SIGPIPE
