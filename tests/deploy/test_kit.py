"""The files of deploy/: what can be checked without Docker is checked, and the entry scripts run behind nginx."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import yaml
from django.conf import settings

from tests.postgres import own_database

ROOT = Path(settings.BASE_DIR)
DEPLOY = ROOT / "deploy"
SBIN = os.pathsep.join((os.environ["PATH"], "/usr/sbin", "/sbin"))
HOST = "pool.example.org"


def run(*command: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=300, **options)  # type: ignore[call-overload]


@pytest.mark.parametrize("name", ["entry", "install", "manage"])
def test_scripts_are_shell_and_say_how_they_are_called(name: str):
    assert run("sh", "-n", str(DEPLOY / name)).returncode == 0
    done = run(str(DEPLOY / name))
    assert done.returncode == 2 and done.stderr.startswith(f"usage: deploy/{name} ")


def test_manage_takes_the_settings_of_the_units_and_starts_from_nothing_else(tmp_path: Path):
    import pwd

    settings_file, folder = tmp_path / "site.env", tmp_path / "var"
    bare = {"PATH": os.environ["PATH"], "TRIPLEPOOL_USER": pwd.getpwuid(os.getuid()).pw_name}
    bare |= {"TRIPLEPOOL_ENV": str(settings_file), "TRIPLEPOOL_VAR": str(folder)}
    show = (str(DEPLOY / "manage"), "diffsettings", "--default", "django.conf.global_settings")
    done = run(*show, env=bare)
    assert done.returncode == 1 and done.stderr.startswith(f"{settings_file} cannot be read")
    settings_file.write_text(f"SECRET_KEY='a$b c'\nALLOWED_HOSTS={HOST}\nTRIPLEPOOL_VAR=/elsewhere\n")
    if os.getuid():
        folder.mkdir()
    done = run(*show, env=bare)
    assert done.returncode == 0, done.stderr
    assert "SECRET_KEY = 'a$b c'" in done.stdout and f"ALLOWED_HOSTS = ['{HOST}']" in done.stdout
    assert folder.is_dir() and f"VAR = PosixPath('{folder}')" in done.stdout
    settings_file.write_text("OIDC_NAME=Two words\n")  # the shell would drop what comes before; it stops instead
    assert run(*show, env=bare).returncode != 0


def test_compose_is_valid_and_names_settings_that_exist(tmp_path: Path):
    file = DEPLOY / "compose.yaml"
    done = run(sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", str(file))
    assert done.returncode == 0, done.stdout
    content = yaml.safe_load(file.read_text(encoding="utf-8"))
    assert content["services"]["web"]["depends_on"]["migrate"]["condition"] == "service_completed_successfully"
    assert content["services"]["web"]["environment"]["DATABASE_URL"].startswith("postgresql://")
    told = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    assert all(service["logging"] == {"driver": "local"} for service in content["services"].values())
    for service in content["services"].values():
        for name in set(service.get("environment", {})) - {
            "POSTGRES_USER",
            "POSTGRES_PASSWORD",
            "SITE_HOST",
            "UPSTREAM",
        }:
            assert f"`{name}`" in told, name


def test_the_example_of_settings_names_what_exists_and_holds_no_secret():
    text = (DEPLOY / "env.example").read_text(encoding="utf-8")
    told = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    pairs = dict(re.findall(r"^#?([A-Z_]+)=(.*)$", text, re.MULTILINE))
    compose = (DEPLOY / "compose.yaml").read_text(encoding="utf-8")
    for name, value in pairs.items():
        assert f"`{name}`" in told or f"${{{name}" in compose or name.startswith("AWS_"), name
        if name.endswith(("_KEY", "_PASSWORD")):
            assert value == ""


def test_the_steps_need_no_sudo():
    """They are for root, and a Debian whose root has a password comes without sudo."""
    for name in ("README.md", "upgrade.md"):
        blocks = re.findall(r"```sh\n(.*?)```", (DEPLOY / name).read_text(encoding="utf-8"), re.DOTALL)
        assert blocks and not [line for line in "".join(blocks).splitlines() if "sudo" in line]


def test_the_container_copies_what_exists():
    text = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
    for source in re.findall(r"^COPY (?!--from)(\S+) ", text, re.MULTILINE):
        assert (ROOT / source).exists(), source
    assert re.search(r"^USER triplepool$", text, re.MULTILINE)
    kinds = set(re.findall(r"^  (\w+)\)", (DEPLOY / "install").read_text(encoding="utf-8"), re.MULTILINE))
    assert {"none", "cpu", "cuda"} <= kinds
    assert {path.stem for path in (DEPLOY / "locks").iterdir()} == {"site", "cpu", "cuda"}


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd")
@pytest.mark.parametrize("unit", sorted(path.name for path in (DEPLOY / "systemd").iterdir()))
def test_units_are_valid(unit: str, tmp_path: Path):
    for path in (DEPLOY / "systemd").iterdir():  # a timer needs its service
        (tmp_path / path.name).write_text(path.read_text().replace("/opt/triplepool", str(ROOT)))
    done = run("systemd-analyze", "verify", "--man=no", str(tmp_path / unit))
    own = [line for line in done.stderr.splitlines() if "triplepool" in line and "EnvironmentFile" not in line]
    assert not own, own


def test_two_backups_of_a_day_have_two_names():
    """The one before an upgrade, and that of the night: a backup overwrites none, so the second one would fail."""
    unit = (DEPLOY / "systemd" / "triplepool-backup.service").read_text(encoding="utf-8")
    command = re.search(r"^ExecStart=/bin/sh -c 'exec \S+ backup (.+)'$", unit, re.MULTILINE)
    assert command
    names = set()
    for _ in range(2):
        names.add(run("sh", "-c", f"echo {command[1].replace('%%', '%')}").stdout.strip())
        time.sleep(1.1)
    assert len(names) == 2 and all(
        re.fullmatch(r"/var/lib/triplepool/backups/triplepool-\S+\.tar\.gz", one) for one in names
    )


# ---------------------------------------------------------------- a site behind nginx, by the entry scripts


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def wait_until(true: object, what: str, seconds: float = 90) -> None:
    end = time.monotonic() + seconds
    while not true():  # type: ignore[operator]
        assert time.monotonic() < end, what
        time.sleep(0.3)


class Machines:
    """One with site and proxy, and workers with disks of their own."""

    def __init__(self, folder: Path, database: str) -> None:
        self.folder, self.http, self.https, self.port = folder, free_port(), free_port(), free_port()
        (folder / "store").mkdir()
        self.started: list[subprocess.Popen[bytes]] = []
        self.environment = {
            **os.environ,
            "SECRET_KEY": "of-this-test-alone-of-this-test-alone-of-this-test-alone",
            "ALLOWED_HOSTS": HOST,
            "SITE_URL": f"https://{HOST}:{self.https}",
            "DATABASE_URL": database,
            "CELERY_BROKER_URL": "redis://127.0.0.1:6379/14",
            "CACHE_URL": "redis://127.0.0.1:6379/15",
            "TRUSTED_PROXIES": "127.0.0.1",
            "BIND": f"127.0.0.1:{self.port}",
            "WEB_PROCESSES": "1",
            "ARTIFACT_STORE": f"file://{folder}/store",
            "OMP_NUM_THREADS": "1",
        }

    def on(self, machine: str) -> dict[str, str]:
        return {**self.environment, "TRIPLEPOOL_VAR": str(self.folder / machine)}

    def entry(self, *words: str, machine: str = "first") -> subprocess.CompletedProcess[str]:
        return run(str(DEPLOY / "entry"), *words, env=self.on(machine))

    def start(self, *command: str, machine: str = "first") -> subprocess.Popen[bytes]:
        self.started.append(subprocess.Popen(command, env=self.on(machine), start_new_session=True))
        return self.started[-1]

    def nginx(self) -> None:
        """Start nginx with the file of the kit: only name, ports and certificate differ, as the README says."""
        text = (DEPLOY / "nginx.conf").read_text(encoding="utf-8")
        key, certificate = self.folder / "key.pem", self.folder / "cert.pem"
        made = run(
            "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", f"/CN={HOST}",
            "-addext", f"subjectAltName=DNS:{HOST}", "-keyout", str(key), "-out", str(certificate),
        )  # fmt: skip
        assert made.returncode == 0, made.stderr
        text = re.sub(r"^\s*listen \[::\].*\n", "", text, flags=re.MULTILINE)
        for old, new in (
            ("listen 80;", f"listen 127.0.0.1:{self.http};"),
            ("listen 443 ssl;", f"listen 127.0.0.1:{self.https} ssl;"),
            (f"/etc/letsencrypt/live/{HOST}/fullchain.pem", str(certificate)),
            (f"/etc/letsencrypt/live/{HOST}/privkey.pem", str(key)),
            ("127.0.0.1:8000", f"127.0.0.1:{self.port}"),
            ("/var/log/nginx/access.log", str(self.folder / "access.log")),
        ):
            assert old in text, old
            text = text.replace(old, new)
        places = "".join(
            f"{name}_temp_path {self.folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        whole = self.folder / "nginx.conf"
        user = "user root;" if os.getuid() == 0 else ""  # the folders of a test are its person's alone
        whole.write_text(
            f"{user} daemon off; pid {self.folder}/pid; error_log {self.folder}/error.log; events {{}}"
            f" http {{ {places} {text} }}"
        )
        nginx = str(shutil.which("nginx", path=SBIN))
        checked = run(nginx, "-t", "-c", str(whole))
        assert checked.returncode == 0, checked.stderr
        self.start(nginx, "-c", str(whole))

    def get(self, path: str, *, tls: bool = True) -> tuple[int, str, dict[str, str]]:
        """Ask through the proxy, as a browser does that knows the name of the site."""
        context = ssl.create_default_context(cafile=str(self.folder / "cert.pem"))
        context.check_hostname = False  # the name is sent as Host; the certificate is checked against cert.pem

        class Stay(urllib.request.HTTPRedirectHandler):
            def redirect_request(self, *arguments: object) -> None:
                return None

        opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=context), Stay)
        address = f"https://127.0.0.1:{self.https}" if tls else f"http://127.0.0.1:{self.http}"
        port = f":{self.https}" if tls else ""
        asked = urllib.request.Request(address + path, headers={"Host": HOST + port})
        try:
            with opener.open(asked, timeout=60) as answer:
                return answer.status, answer.read().decode(), dict(answer.headers)
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode(), dict(error.headers)
        except OSError as error:
            return 0, str(error), {}

    def end(self) -> None:
        for process in reversed(self.started):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
        for process in self.started:
            try:
                process.wait(timeout=40)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[Machines]:
    import redis

    with own_database("kit") as database:
        for number in (14, 15):
            redis.Redis(db=number).flushdb()
        made = Machines(tmp_path, database)
        try:
            yield made
        finally:
            made.end()


@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.redis
@pytest.mark.nginx
def test_the_readme_brings_up_a_site_behind_tls_with_two_workers(machines: Machines):
    """Steps 4 to 6 of deploy/README.md by the scripts of units and containers; no two machines share a disk."""
    for words in (["migrate"], ["collectstatic", "--noinput"], ["check", "--deploy", "--fail-level", "WARNING"]):
        done = machines.entry(*words)
        assert done.returncode == 0, done.stderr
    added = machines.entry("add_person", "boss", "--role", "manager")
    assert added.returncode == 0, added.stderr
    machines.start(str(DEPLOY / "entry"), "web")
    machines.nginx()
    wait_until(lambda: machines.get("/healthz")[0] == 200, "no /healthz behind nginx")
    status, body, headers = machines.get("/login")
    assert status == 200 and "Sign in" in body
    assert headers["Strict-Transport-Security"].startswith("max-age=")
    script = re.findall(r'src="(/static/[^"]+\.js)"', body)[0]
    assert machines.get(script)[2]["Cache-Control"] == "max-age=315360000, public, immutable"
    status, _, headers = machines.get("/login", tls=False)
    assert status == 301 and headers["Location"].startswith(f"https://{HOST}/")
    for secret in ("/invitations/SECRET", "/password/new/MQ/SECRET", "/login?next=/invitations/SECRET"):
        for tls in (True, False):
            assert machines.get(secret, tls=tls)[0] in (200, 301, 404)
    log = (machines.folder / "access.log").read_text()
    assert log.count('"GET /login"') == 4 and "SECRET" not in log, log
    assert '"workers": "none for cpu, gpu"' in machines.get("/readyz")[1]
    for machine in ("second", "third"):
        machines.start(str(DEPLOY / "entry"), "worker", "--processes", "1", machine=machine)
    wait_until(lambda: '"workers": "ok"' in machines.get("/readyz")[1], "no worker is seen")
    for words in (
        ["import_graph", "nations", "--pykeen", "Nations"],
        ["train_systems", "nations", "--systems", "distmult,transe", "--set", "epochs=2"],
        ["build_pool", "nations", "--name", "first", "--count", "20", "--depth", "3"],
        ["backup", str(machines.folder / "of-the-night.tar.gz")],
        ["evaluate", "first"],
    ):
        done = machines.entry(*words)
        assert done.returncode == 0, f"{words}: {done.stderr}"
    assert "distmult" in done.stdout and "transe" in done.stdout
    with psycopg.connect(machines.environment["DATABASE_URL"]) as connection:
        rows = connection.execute("SELECT count(*) FROM core_worker WHERE processes = 1").fetchone()
    assert rows == (2,), "both machines have their worker"
