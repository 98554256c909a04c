"""The disk of the media files is full while students ask: who uploads is told what to do, nothing is half written, and
students notice nothing."""

import os
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from http.cookiejar import CookieJar
from pathlib import Path

import pytest

from tests.faults.cluster import Cluster, Postgres, cluster
from tests.knowledge import pdfs
from tests.runtime.processes import wait_until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc"),
    pytest.mark.skipif(sys.platform == "linux" and os.geteuid() != 0, reason="only root may mount a disk"),
]
UPLOADS = "/admin/knowledge/pdfupload/"
STATES = "SELECT array_agg(status ORDER BY id) FROM knowledge_pdfupload"


class SmallMedia(Postgres):
    """Beside it, the media files have a disk of their own."""

    def __init__(self, folder: Path) -> None:
        self.media = folder / "media"
        self.media.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "none", self.media], check=True)
        super().__init__(folder)

    @contextmanager
    def full(self, *, but: int) -> Iterator[None]:
        """Leave room for so many bytes."""
        filler = self.media / "filler"
        free = os.statvfs(self.media)
        filler.write_bytes(bytes(free.f_bavail * free.f_frsize - but))
        try:
            yield
        finally:
            filler.unlink()

    def files(self) -> set[str]:
        return {path.name for path in self.media.rglob("*") if path.is_file()} - {"filler"}

    def stop(self, signum: int = 2) -> None:
        super().stop(signum)
        subprocess.run(["umount", "--lazy", self.media], check=True)


class Staff:
    """A member of staff's browser, logged in."""

    def __init__(self, stack: Cluster) -> None:
        self._origin, self._cookies = stack.server.origin, CookieJar()
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self._cookies))
        self.open("/admin/login/")
        fields = {"username": "admin", "password": stack.run.password, "next": "/admin/"}
        form = urllib.parse.urlencode(fields | {"csrfmiddlewaretoken": self._token()})
        assert "logout" in self.open("/admin/login/", form.encode())

    def upload(self, collection: int, *files: tuple[str, bytes]) -> str:
        """Return the page that comes then."""
        end = uuid.uuid4().hex
        parts = [_part("csrfmiddlewaretoken", self._token().encode()), _part("collection", str(collection).encode())]
        parts += [_part("documents", content, name) for name, content in files]
        body = b"".join(f"--{end}\r\n".encode() + part + b"\r\n" for part in parts) + f"--{end}--\r\n".encode()
        return self.open(f"{UPLOADS}add/", body, f"multipart/form-data; boundary={end}")

    def open(self, path: str, body: bytes | None = None, kind: str = "application/x-www-form-urlencoded") -> str:
        headers = {"Content-Type": kind} if body is not None else {}
        request = urllib.request.Request(self._origin + path, body, headers)
        with self._opener.open(request, timeout=30) as response:
            return str(response.read().decode())

    def _token(self) -> str:
        return next(str(cookie.value) for cookie in self._cookies if cookie.name == "csrftoken")


def _part(field: str, content: bytes, file: str = "") -> bytes:
    named = f'; filename="{file}"\r\nContent-Type: application/pdf' if file else ""
    return f'Content-Disposition: form-data; name="{field}"{named}\r\n\r\n'.encode() + content


def test_a_full_disk_of_uploads_is_told_and_costs_nobody_anything() -> None:
    with cluster(database_class=SmallMedia) as stack, stack.busy() as going:
        disk = stack.postgres
        assert isinstance(disk, SmallMedia)
        staff, before = Staff(stack), disk.files()
        (collection,) = stack.row("SELECT id FROM knowledge_collection WHERE slug = 'rooms'")
        files = [(f"rules-{number}.pdf", pdfs.handbook(2 + number)) for number in range(3)]
        with disk.full(but=len(files[0][1]) + len(files[1][1]) // 2 + 4096):
            began = time.monotonic()
            page = staff.upload(collection, *files)
            took = time.monotonic() - began
            assert "its disk may be full" in page
            assert disk.files() == before
            assert stack.row("SELECT count(*) FROM knowledge_pdfupload") == (0,)
            going.goes_on(after=time.monotonic())
        began = time.monotonic()
        staff.upload(collection, *files)
        wait_until(lambda: stack.row(STATES) == (["imported"] * len(files),), 180)
        imported = time.monotonic() - began
        equal = stack.index_equals_after_last_edit(going, began)
    assert {one.status for one in going.answered} == {"complete"}
    assert not going.refusals()
    assert not going.editor.troubles
    print(
        f"\ndisk of media full: told after {took:.1f} s; with room again three files imported after {imported:.1f} s, "
        f"index {equal:.1f} s"
    )
