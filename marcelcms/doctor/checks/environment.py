"""Settings, disk, static files, and the way from a browser to here."""

import os
import shutil
import ssl
import subprocess
import tempfile
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

from marcelcms import checks
from marcelcms.doctor.findings import Finding, fail, ok, warn

SECONDS = 5
FREE_GIGABYTES, FREE_FAIL = 5, 1
GIGABYTE = 1e9
BROWSER_SECONDS = 30


def configuration() -> Iterator[Finding]:
    """Report what `check --deploy` finds; a web process refuses to start with its errors."""
    errors, warnings = list(checks.unsafe()), list(checks.unwise())
    for error in errors:
        yield fail("settings", str(error.msg), str(error.hint))
    for warning in warnings:
        yield warn("settings", str(warning.msg), str(warning.hint))
    if not errors and not warnings:
        yield ok("settings", f"safe for {settings.PUBLIC_URL}")


def media() -> Iterator[Finding]:
    folder = Path(settings.MEDIA_ROOT)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(b"x")
    free = shutil.disk_usage(folder).free / GIGABYTE
    todo = f"Make room on the disk of {folder}: uploads, reports and backups need it."
    if free < FREE_FAIL:
        yield fail("disk", f"{free:.1f} GB free for media files", todo)
    elif free < FREE_GIGABYTES:
        yield warn("disk", f"{free:.1f} GB free for media files", todo)
    else:
        yield ok("disk", f"{free:.0f} GB free for media files")


def static_files() -> Iterator[Finding]:
    root = Path(settings.STATIC_ROOT)
    count = sum(len(files) for _folder, _folders, files in os.walk(root))
    if count:
        yield ok("static files", f"{count} collected")
    elif checks.public_hosts():
        yield warn(
            "static files",
            f"none in {root}; found in the apps at each start",
            "Run `manage.py collectstatic --noinput`.",
        )
    else:
        yield ok("static files", "served from the apps")


def crawl_browser() -> Iterator[Finding]:
    """Have the crawler's browser render a page, in its sandbox; only a worker of the queue `crawl` needs it."""
    program, what = settings.CRAWL_BROWSER, "crawl browser"
    if not program:
        yield ok(what, "none is set: pages that are empty without JavaScript are left out")
        return
    if errors := list(checks.unusable_browser()):
        yield from (fail(what, str(error.msg), str(error.hint)) for error in errors)
        return
    with tempfile.TemporaryDirectory() as home:
        page = "data:text/html,<p>It was rendered."
        command = [program, "--headless", "--disable-gpu", f"--user-data-dir={home}", "--dump-dom", page]
        try:
            done = subprocess.run(command, capture_output=True, timeout=BROWSER_SECONDS, check=False)  # noqa: S603
            is_rendered, said = b"It was rendered." in done.stdout, done.stderr.decode(errors="replace")
        except subprocess.TimeoutExpired:
            is_rendered, said = False, f"no page within {BROWSER_SECONDS} seconds"
    if is_rendered:
        yield ok(what, f"{program} renders a page")
    else:
        lines = said.strip().splitlines() or ["it says nothing"]
        reason = next((line for line in lines if "sandbox" in line), lines[-1])[:300]
        todo = "Chromium's sandbox needs a user other than root, and user namespaces: see “Install”."
        yield fail(what, f"{program} renders no page: {reason}", todo)


def way_in() -> Iterator[Finding]:
    """Connect as a browser does: name, proxy, certificate."""
    address = f"{settings.PUBLIC_URL}/health/live"
    try:
        with urllib.request.urlopen(address, timeout=SECONDS) as reply:  # noqa: S310 (http or https, by `env`)
            if reply.read(16) == b"ok\n":
                yield ok("way in", f"{settings.PUBLIC_URL} answers")
                return
            said = "something else answers"
    except OSError as error:
        reason = getattr(error, "reason", None) or error  # urllib wraps what a connection raises
        is_untrusted = isinstance(reason, ssl.SSLCertVerificationError)
        said = f"{'its certificate is not trusted' if is_untrusted else 'it does not answer'}: {reason}"
    yield warn(
        "way in",
        f"{address}: {said}",
        "Start the web process; check the proxy, the certificate, and that PUBLIC_URL is what browsers see. "
        "From inside a network this may fail although browsers get through.",
    )
