"""Run the whole product on made-up families, then serve the site; `make demo` calls it."""

from argparse import ArgumentParser
from typing import Any

from django.core.management import call_command

from core.management.commands.serve import address, check_port
from core.management.shell import ShellCommand, Ticker, run_jobs
from evaluation.demo.demo import Demo, logins
from evaluation.demo.stages import run_stages


class Command(ShellCommand):
    help = (
        "Build the demo from families with known truth: graph, six systems, pool, labels of simulated annotators, "
        "measures, test set. Then serve the site. Existing data is kept."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--bind", type=address, default="127.0.0.1:8000", metavar="HOST:PORT", help="address of the site"
        )
        parser.add_argument("--no-serve", action="store_true", help="stop after writing the test set")

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["no_serve"]:
            check_port(options["bind"])  # before minutes of work, not after
        demo = Demo(lambda jobs: run_jobs(jobs, self.stderr), Ticker(self.stderr))
        run_stages(demo, self._say)
        self._say_logins(demo)
        if options["no_serve"]:
            self._say("Look at it with: make demo")
            return
        check_port(options["bind"])
        self._say(f"Sign in at http://{options['bind']}/")
        call_command("serve", bind=options["bind"])

    def _say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()

    def _say_logins(self, demo: Demo) -> None:
        self._say("\nLogins, one for each role:")
        found = logins(demo)
        for role, name, password in found:
            known = password or f"(not known here; set one: python manage.py changepassword {name})"
            self._say(f"  {role:12}  {name:18}  {known}")
        if any(login.password for login in found):
            self._say(f"They are kept in {demo.logins_file}, which only you can read.")
