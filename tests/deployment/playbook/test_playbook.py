"""The playbook of `docker/ansible` on two fresh hosts: what it refuses, what it leaves, what a second run changes.

`make test ARGS="-m slow -s tests/deployment/playbook"`; it prints what was done after how many seconds.
"""

import base64
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tests.deployment.images import CERTIFICATES, NAMES, PACKAGES, ROOT, build, need_programs, output
from tests.deployment.playbook.hosts import (
    HERE,
    SOURCE,
    Control,
    Host,
    Run,
    make_repository,
    need_more_programs,
    network,
    stand_in_for_nvidia,
    started,
)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

CHAT, GPU = "chat.uni.example", "gpu.uni.example"
CERTIFICATE = f"/etc/ssl/private/{CHAT}.fullchain.pem"
KEY = f"/etc/ssl/private/{CHAT}.key.pem"
FOLDER = "/opt/marcelcms/docker"
LLM_KEY = "key-of-the-tests"


@dataclass(frozen=True, slots=True)
class University:
    control: Control
    chat: Host
    gpu: Host


@pytest.fixture(scope="module")
def university(tools: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[University]:
    """Start both hosts, and prepare the folder that Ansible runs in but for its secrets."""
    need_programs()
    need_more_programs()
    lent = (CERTIFICATES, NAMES, PACKAGES)
    image = build(HERE / "Dockerfile", "localhost/marcelcms-playbook:tests", folder=HERE, lent=lent)
    folder = tmp_path_factory.mktemp("playbook")
    project, source, key = folder / "ansible", folder / "source", folder / "key"
    shutil.copytree(ROOT / "docker" / "ansible", project)
    shutil.copy(project / "inventory.example.yml", project / "inventory.yml")
    (project / "vault_password").write_text("of the tests\n")
    output("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key)
    source.mkdir()
    mount = f"{source}:{SOURCE}:ro"
    with (
        network(),
        started("marcelcms-chat", image, key, mount) as chat,
        started("marcelcms-gpu", image, key, mount) as gpu,
    ):
        make_repository(source, base64.b64decode(chat.run("base64", "/bin/busybox")))
        (project / "tests.yml").write_text(yaml.safe_dump(_connections(chat, gpu)))
        yield University(Control(project, tools), chat, gpu)


def _connections(chat: Host, gpu: Host) -> object:
    """Return an inventory that says beside the example's how the hosts are reached, and what only the tests know."""
    shared = {
        "ansible_user": "admin",
        "ansible_python_interpreter": "/usr/bin/python3",
        "ansible_ssh_private_key_file": str(chat.key),
    }
    return {
        "all": {
            "vars": shared,
            "hosts": {
                CHAT: {
                    "ansible_host": chat.address,
                    "marcelcms_repository": SOURCE,
                    "marcelcms_version": "one",
                    "marcelcms_environment": {},
                },
                GPU: {"ansible_host": gpu.address, "vllm_clients": [chat.address]},
            },
        }
    }


def certificate(folder: Path) -> tuple[str, str]:
    """Make a certificate for the site and return it with its key."""
    files = ("-keyout", folder / "tls_key", "-out", folder / "tls_certificate")
    output("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={CHAT}", *files)
    return (folder / "tls_certificate").read_text(), (folder / "tls_key").read_text()


def assert_refused(run: Run, *words: str) -> None:
    """Check that a run stopped, and that its message has these words."""
    text = " ".join(run.text.split())
    assert run.status != 0, run.text
    assert not [word for word in words if word not in text], run.text


def assert_done(run: Run, *hosts: str) -> None:
    assert run.status == 0, run.text[-6000:]
    for host in hosts:
        counts = run.counts(host)
        assert (counts["failed"], counts["unreachable"], counts["rescued"]) == (0, 0, 0), run.text[-6000:]


def test_the_playbook_sets_up_two_hosts_and_its_second_run_changes_nothing(
    university: University, tmp_path: Path
) -> None:
    control, chat, gpu = university.control, university.chat, university.gpu
    begun = time.monotonic()

    def say(what: str) -> None:
        print(f"{time.monotonic() - begun:6.1f} s  {what}")

    def counted(run: Run, host: str) -> str:
        return f"{host}: {run.counts(host)['ok']} tasks, {run.counts(host)['changed']} changed"

    secrets = control.project / "secrets.yml"
    assert_refused(control.play(), "secrets.yml", "secrets.example.yml", "ansible-vault encrypt secrets.yml")
    shutil.copy(control.project / "secrets.example.yml", secrets)
    assert_refused(control.play(limit=GPU), "Write a key of your own as llm_api_key into secrets.yml")
    secrets.write_text(f"---\nllm_api_key: {LLM_KEY}\n")
    control.encrypt("secrets.yml")
    assert_refused(
        control.play(limit=CHAT, marcelcms_public_host=""), "Set marcelcms_repository, marcelcms_public_host"
    )
    assert_refused(control.play(limit=CHAT), f"There is no {CERTIFICATE} on this host", "set marcelcms_tls_certificate")
    assert chat.attempt("test", "-e", "/opt/marcelcms").returncode
    say("without secrets, a key, the public name or the certificate it stops and says what to do; it left nothing")

    assert_refused(control.play(limit=GPU), "Install NVIDIA's driver and container toolkit, then run this again")
    say("without NVIDIA's runtime it stops and says what to do; Docker is installed")
    stand_in_for_nvidia(gpu)
    first_certificate, first_key = certificate(tmp_path)
    chat.write(CERTIFICATE, first_certificate)
    chat.write(KEY, first_key)

    run = control.play()
    assert_done(run, CHAT, GPU)
    say(f"first run: {counted(run, CHAT)}; {counted(run, GPU)}")
    run = control.play()
    assert_done(run, CHAT, GPU)
    assert not run.changed, run.changed
    assert [run.counts(host)["changed"] for host in (CHAT, GPU)] == [0, 0]
    say(f"second run: {counted(run, CHAT)}; {counted(run, GPU)}")

    check_files(chat, gpu)
    check_what_runs(chat)
    check_firewall(chat, gpu)
    say("files, services, containers and firewalls are as they should be")

    before = containers(chat)
    second_certificate, second_key = certificate(tmp_path)
    chat.write(CERTIFICATE, second_certificate)
    chat.write(KEY, second_key)
    run = control.play(limit=CHAT)
    assert_done(run, CHAT)
    assert run.changed == ["marcelcms : Keep the certificate and its key", "marcelcms : Reload MarcelCMS"]
    assert served_certificate(chat) == second_certificate
    assert replaced(before, containers(chat)) == {"nginx"}
    say("a renewed certificate replaces nginx and nothing else")

    new = {"marcelcms_version": "two", "marcelcms_retention_days": "30"}
    docker = "/usr/local/bin/docker"  # found before the real one
    chat.write(docker, "#!/bin/sh\necho no space left >&2\nexit 1\n", mode="755")
    assert_refused(control.play(limit=CHAT, **new), "marcelcms : Build the image", "no space left")
    chat.run("rm", docker)
    assert chat.compose("exec", "-T", "web", "cat", "/version") == "one\n"
    run = control.play(limit=CHAT, **new)
    assert_done(run, CHAT)
    assert run.changed == [
        "marcelcms : Build the image",
        "marcelcms : Note which source the image was built from",
        "marcelcms : Restart MarcelCMS",
    ]
    assert chat.compose("exec", "-T", "web", "cat", "/version") == "two\n"
    assert "RETENTION_DAYS=30\n" in chat.compose("exec", "-T", "web", "env")
    say("a build that failed is repeated by the next run; the new version is started, with a new setting")

    old, recent = "/var/backups/marcelcms/old.tar", "/var/backups/marcelcms/recent.tar"
    chat.run("touch", "--date", "20 days ago", old)
    chat.run("touch", "--date", "10 days ago", recent)
    chat.run("systemctl", "start", "marcelcms-backup.service")
    assert chat.run("cat", "/var/backups/marcelcms/marcelcms.tar") == "two\n"
    assert chat.run("ls", "/var/backups/marcelcms").split() == ["marcelcms.tar", "recent.tar"]
    say("the backup's service leaves a backup and deletes old ones")


def check_files(chat: Host, gpu: Host) -> None:
    """Check owners, modes and contents."""
    assert chat.facts(f"{FOLDER}/secrets") == "750 0 10001"
    names = chat.run("ls", f"{FOLDER}/secrets").split()
    assert {"tls_certificate", "tls_key", "llm_api_key", "secret_key", "database_password", "broker_url"} <= set(names)
    assert {chat.facts(f"{FOLDER}/secrets/{name}") for name in names} == {"440 0 10001"}
    assert chat.run("cat", f"{FOLDER}/secrets/llm_api_key") == f"{LLM_KEY}\n"
    assert chat.facts(f"{FOLDER}/.env") == chat.facts(f"{FOLDER}/more.env") == "640 0 0"
    settings = dict(line.split("=", 1) for line in chat.run("cat", f"{FOLDER}/.env").splitlines() if "=" in line)
    assert settings["PUBLIC_HOST"] == CHAT
    assert settings["LLM_BASE_URL"] == f"http://{GPU}:8000/v1"
    assert settings["BACKUP_FOLDER"] == "/var/backups/marcelcms"
    assert chat.facts("/var/backups/marcelcms") == "750 10001 10001"
    units = ("marcelcms.service", "marcelcms-backup.service", "marcelcms-backup.timer")
    for host, names in ((chat, units), (gpu, ("marcelcms-vllm.service",))):
        paths = [f"/etc/systemd/system/{name}" for name in names]
        assert {host.facts(path) for path in paths} == {"644 0 0"}
        assert not host.run("systemd-analyze", "verify", *paths)
    assert gpu.facts("/opt/marcelcms-vllm/llm_api_key") == "440 0 10001"
    assert gpu.facts("/opt/marcelcms-vllm/compose.yml") == "644 0 0"
    assert gpu.facts("/opt/marcelcms-vllm/models") == "750 10001 10001"


def check_what_runs(chat: Host) -> None:
    for unit in ("docker.service", "marcelcms.service", "marcelcms-backup.timer"):
        assert chat.run("systemctl", "is-active", unit) == "active\n"
        assert chat.run("systemctl", "is-enabled", unit) == "enabled\n"
    assert "marcelcms-backup.service" in chat.run("systemctl", "list-timers", "--all", "--no-pager")
    assert len(containers(chat)["web"]) == 2
    assert chat.compose("exec", "-T", "web", "id", "-u") == "10001\n"
    assert chat.compose("exec", "-T", "web", "cat", "/version") == "one\n"
    assert served_certificate(chat) == chat.run("cat", CERTIFICATE)


def check_firewall(chat: Host, gpu: Host) -> None:
    """Check that others reach SSH and the site alone, and that only the site reaches the model."""
    assert [port for port in (22, 80, 443, 9999) if is_open(chat, port)] == [22, 80, 443]
    words = chat.run("busybox", "wget", "-q", "-T", "10", "-O", "-", f"http://{gpu.address}:8000/words")
    assert "serve Qwen/Qwen2.5-7B-Instruct" in words
    assert [port for port in (22, 8000) if is_open(gpu, port)] == [22]


def is_open(host: Host, port: int) -> bool:
    """Try a connection from this machine, in a process of its own: tests themselves reach this machine alone."""
    code = f"import socket; socket.create_connection(({host.address!r}, {port}), timeout=3)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0 or "TimeoutError" in done.stderr, done.stderr
    return done.returncode == 0


def containers(chat: Host) -> dict[str, set[str]]:
    """Return the running containers of each service."""
    found: dict[str, set[str]] = {}
    for line in chat.run("docker", "ps", "--format", '{{.Label "com.docker.compose.service"}} {{.ID}}').splitlines():
        service, identifier = line.split()
        found.setdefault(service, set()).add(identifier)
    return found


def replaced(before: dict[str, set[str]], after: dict[str, set[str]]) -> set[str]:
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


def served_certificate(chat: Host) -> str:
    """Return the certificate that nginx read when it started; its stand-in serves it as a file."""
    return chat.run("busybox", "wget", "-q", "-T", "10", "-O", "-", f"http://{chat.address}/certificate")
