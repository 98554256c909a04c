"""Hosts to run the playbook against: containers with systemd as first process, an SSH server and a user with sudo.

Docker, Compose, systemd and ufw are the real ones of Debian. The images that Compose starts are stand-ins, and so is
what NVIDIA's container toolkit leaves on a host.
"""

import os
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.deployment.images import PODMAN, ROOT, output

HERE = Path(__file__).parent
NETWORK = "marcelcms-playbook"
#: Where hosts find the repository.
SOURCE = "/srv/marcelcms"
#: Links to busybox: what the stand-ins' scripts call, and what checks of health and Compose call.
LINKS = ["cat", "cp", "echo", "env", "grep", "httpd", "id", "mkdir", "sed", "sh", "sleep", "true", "wget"]
#: Systemd 256 and later start on the older kind of control groups only if told so.
INIT = ("/sbin/init", "SYSTEMD_CGROUP_ENABLE_LEGACY_FORCE=1")
#: The engine starts containers of its own, with mounts, networks and limits.
RIGHTS = ("--privileged", "--cgroupns", "private", "--systemd", "always")
LIMITS = ("--log-driver", "k8s-file", "--ulimit", "nofile=4096:4096", "--ulimit", "nproc=4096:4096")
NVIDIA = '{"runtimes": {"nvidia": {"path": "/usr/sbin/runc"}}}\n'
#: Docker takes requests for GPUs if it finds a program of this name when it starts.
HOOK = "/usr/local/bin/nvidia-container-runtime-hook"


def need_more_programs() -> None:
    """Skip without SSH's client, Git, OpenSSL, or iptables, which Podman's networks take."""
    if missing := [name for name in ("ssh", "ssh-keygen", "git", "openssl", "iptables") if not shutil.which(name)]:
        pytest.skip(f"not installed: {', '.join(missing)}")


@dataclass(frozen=True, slots=True)
class Host:
    name: str
    address: str
    key: Path

    def run(self, *words: str, given: str = "") -> str:
        """Run a command as root over SSH and return what it writes."""
        done = self.attempt(*words, given=given)
        assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
        return done.stdout

    def attempt(self, *words: str, given: str = "") -> subprocess.CompletedProcess[str]:
        options = ("-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR")
        command = ("ssh", "-i", self.key, *options, f"admin@{self.address}", "sudo", shlex.join(words))
        return subprocess.run(command, input=given, capture_output=True, text=True, check=False, timeout=120)

    def write(self, path: str, text: str, mode: str = "600") -> None:
        self.run("install", "-D", "-m", mode, "/dev/stdin", path, given=text)

    def compose(self, *words: str) -> str:
        return self.run("docker", "compose", "--project-directory", "/opt/marcelcms/docker", *words)

    def facts(self, path: str) -> str:
        """Return the mode, owner and group of a file, in digits."""
        return self.run("stat", "--format", "%a %u %g", path).strip()

    def wait_until_reached(self) -> None:
        deadline = time.monotonic() + 60
        while self.attempt("true").returncode:
            assert time.monotonic() < deadline, podman("logs", self.name)
            time.sleep(0.5)


@dataclass(frozen=True, slots=True)
class Run:
    """One run of ansible-playbook: its exit status and what it wrote."""

    status: int
    text: str

    def counts(self, host: str) -> dict[str, int]:
        """Return the numbers of the recap: ok, changed, unreachable, failed, skipped ..."""
        (line,) = re.findall(rf"^{re.escape(host)} +: (.*)$", self.text, re.MULTILINE)
        return {name: int(number) for name, number in re.findall(r"(\w+)=(\d+)", line)}

    @property
    def changed(self) -> list[str]:
        """The tasks and handlers that changed something, as `role : name`, each once."""
        return list(dict.fromkeys(name for name, line in self._results() if line.startswith("changed: ")))

    def _results(self) -> Iterator[tuple[str, str]]:
        name = ""
        for line in self.text.splitlines():
            if found := re.match(r"(?:TASK|RUNNING HANDLER) \[(.*)\]", line):
                name = found[1]
            yield name, line


@dataclass(frozen=True, slots=True)
class Control:
    """The machine that Ansible runs on: a copy of docker/ansible, with an inventory and the tools' programs."""

    project: Path
    tools: Path

    def play(self, *words: str, limit: str = "all", **variables: str) -> Run:
        """Run the playbook; `variables` outweigh those of the inventory."""
        more = [part for name, value in variables.items() for part in ("--extra-vars", f"{name}={value}")]
        command = ["ansible-playbook", "--inventory", "inventory.yml", "--inventory", "tests.yml", "--limit", limit]
        command += ["--vault-password-file", "vault_password", *more, *words, "site.yml"]
        done = subprocess.run(
            command, cwd=self.project, env=self._environment(), stdout=-1, stderr=-2, text=True, check=False
        )
        return Run(done.returncode, done.stdout)

    def encrypt(self, name: str) -> None:
        command = ["ansible-vault", "encrypt", "--vault-password-file", "vault_password", name]
        subprocess.run(command, cwd=self.project, env=self._environment(), check=True, capture_output=True)

    def _environment(self) -> dict[str, str]:
        home = str(self.project.parent)
        return os.environ | {
            "PATH": f"{self.tools}:{os.environ['PATH']}",
            "HOME": home,
            "ANSIBLE_LOCAL_TEMP": home,
            "ANSIBLE_HOST_KEY_CHECKING": "false",
            "ANSIBLE_NOCOLOR": "true",
            "ANSIBLE_PIPELINING": "true",  # fewer connections a task
        }


@contextmanager
def started(name: str, image: str, key: Path, *mounts: str) -> Iterator[Host]:
    """Start a host, wait for its SSH server, and remove the host afterwards."""
    remove(name)  # what a run that was killed has left
    volumes = [part for mount in (f"{key}.pub:/etc/ssh/keys:ro", *mounts) for part in ("--volume", mount)]
    try:
        output(
            *(*PODMAN, "run", "--detach", "--name", name, "--hostname", name, "--network", NETWORK),
            *(*RIGHTS, *LIMITS, *volumes, image, *INIT),
        )
        found = "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}"
        host = Host(name, podman("inspect", "--format", found, name).strip(), key)
        host.wait_until_reached()
        yield host
    finally:
        remove(name)


def remove(name: str) -> None:
    command = [*PODMAN, "rm", "--force", "--volumes", "--time", "10", name]
    subprocess.run(command, capture_output=True, check=False)


@contextmanager
def network() -> Iterator[None]:
    subprocess.run([*PODMAN, "network", "rm", "--force", NETWORK], capture_output=True, check=False)
    podman("network", "create", NETWORK)
    try:
        yield
    finally:
        subprocess.run([*PODMAN, "network", "rm", "--force", NETWORK], capture_output=True, check=False)


def podman(*words: str) -> str:
    return output(*PODMAN, *words)


def make_repository(folder: Path, busybox: bytes) -> None:
    """Make a repository with the real folder `docker`, but stand-ins for the images; versions `one` and `two`."""
    docker = folder / "docker"
    shutil.copytree(ROOT / "docker", docker, ignore=shutil.ignore_patterns("ansible", "secrets", ".env", "more.env"))
    shutil.copy(ROOT / ".gitignore", folder)
    shutil.copy(HERE / "images.Dockerfile", docker / "Dockerfile")
    shutil.copy(HERE / "compose.override.yml", docker)
    shutil.copytree(HERE / "bin", docker / "bin")
    (docker / "bin" / "busybox").write_bytes(busybox)
    (docker / "bin" / "busybox").chmod(0o755)
    for name in LINKS:
        (docker / "bin" / name).symlink_to("busybox")
    git = ("git", "-C", folder, "-c", "user.name=Tests", "-c", "user.email=tests@uni.example")
    output(*git, "init", "--quiet", "--initial-branch", "main")
    for version in ("one", "two"):
        (docker / "version").write_text(f"{version}\n")
        output(*git, "add", "--all")
        output(*git, "commit", "--quiet", "--message", f"Version {version}")
        output(*git, "tag", version)


def stand_in_for_nvidia(host: Host) -> None:
    """Leave on the host what NVIDIA's container toolkit does, and the image of vLLM, as far as Docker looks at it."""
    host.write("/etc/docker/daemon.json", NVIDIA, mode="644")
    host.write(HOOK, "#!/bin/sh\n", mode="755")
    host.run("systemctl", "restart", "docker")
    source = ("--file", f"{SOURCE}/docker/Dockerfile", "--target", "others", SOURCE)
    host.run("docker", "build", "--quiet", "--tag", "vllm/vllm-openai:v0.11.0", *source)
