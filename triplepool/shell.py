"""Run the console command `triplepool GROUP VERB …`; triplepool/groups.py says which command each verb is."""

import errno
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
        with quiet_end():
            import django
            from django.core.exceptions import ImproperlyConfigured
            from django.core.management import get_commands, load_command_class
    except ImportError:
        print(NEEDS, file=sys.stderr)
        raise SystemExit(2) from None
    group, _, verb = call.called.rpartition(" ")
    try:
        with quiet_end():
            django.setup()
            command = load_command_class(get_commands()[call.command], call.command)
            command.run_from_argv([group, verb, *call.arguments])
            sys.stdout.flush()
    except ImproperlyConfigured as error:  # a setting: its message says which, and what to write
        raise SystemExit(f"ImproperlyConfigured: {error}") from None


# errors of writing that name no file: the place where the output is kept is full, or fails
_OUTPUT = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}


@contextmanager
def quiet_end() -> Iterator[None]:
    """End without a traceback at Ctrl-C and if the output cannot be written; write none where the caller closed it.

    A reader may have seen enough, as in `triplepool pool report P | head`; a disk may be full.
    """
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115, PTH123  # `>&-`: Python has None
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115, PTH123
    try:
        yield
    except BrokenPipeError:
        _drop_output()
        raise SystemExit(141) from None  # as a program that is ended by SIGPIPE
    except KeyboardInterrupt:
        sys.excepthook = lambda *_: None
        raise  # Python itself then ends as a program that is ended by Ctrl-C, which a loop of a shell needs
    except OSError as error:
        if error.errno not in _OUTPUT or error.filename is not None:
            raise
        _drop_output()
        raise SystemExit(f"The output could not be written: {error.strerror}.") from None


def _drop_output() -> None:
    """Let Python's own end write what is left to nowhere, or it would fail once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
