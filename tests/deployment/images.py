"""Images that are built and run with buildah, podman and runc; a test skips where they or root are missing."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BASES = ("docker.io/library/python:3.12-slim-trixie", "docker.io/library/debian:trixie-slim")
PROGRAMS = ("buildah", "podman", "runc")
BUILDAH = ("buildah", "--storage-driver", "vfs")
PODMAN = ("podman", "--storage-driver", "vfs", "--runtime", "runc", "--cgroup-manager", "cgroupfs")
#: Files of the machine that a build behind a gateway needs; they do not go into the image.
CERTIFICATES, NAMES, PACKAGES = "/etc/ssl/certs", "/etc/resolv.conf", "/etc/apt/apt.conf.d"


def output(*command: str | Path, **variables: str) -> str:
    """Run a command; raise AssertionError with its last words if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | variables)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done.stdout


def need_programs() -> None:
    if os.geteuid() != 0:
        pytest.skip("only root builds images here")
    if missing := [name for name in PROGRAMS if not shutil.which(name)]:
        pytest.skip(f"not installed: {', '.join(missing)}")
    for base in BASES:
        if subprocess.run([*PODMAN, "image", "exists", base], check=False, capture_output=True).returncode:
            pytest.skip(f"{base} is not in the local storage")


def build(file: Path, name: str, *, target: str = "", folder: Path = ROOT, lent: tuple[str, ...] = (NAMES,)) -> str:
    """Build a target of a Dockerfile (the last one by default) and return its name."""
    command = [*BUILDAH, "bud", "--isolation", "chroot", "--network", "host", "--pull=never", "--format", "docker"]
    files = [part for path in lent if Path(path).exists() for part in ("-v", f"{path}:{path}:ro")]
    wanted = ["--target", target] if target else []
    output(*command, *files, *wanted, "-f", file, "-t", name, folder)
    return name
