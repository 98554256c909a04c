"""Make the dump of this version: `python -m tests.upgrade.make`, in the tree of the version that is to be kept.

It starts servers of its own, loads the demo, asks its assistant, adds a row to every screen of the staff and writes
`tests/upgrade/dumps/VERSION.sql.gz`. What is configured on this machine, and the data in `var/`, are not touched.
"""

import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from marcelcms.embedded.services import PARTS, provide

ROOT = Path(__file__).resolve().parents[2]
DUMPS = Path(__file__).with_name("dumps")
#: The model of the tests: half as many numbers a passage as the model of `make run`, and no new index in the test.
MODEL = "all-MiniLM-L6-v2"
CONVERSATIONS = (
    ("How much is the semester contribution?", "Until when do I have to pay it?"),
    ("Wann und wo melde ich mich zu Prüfungen an?",),
    ("Where do I get a parking permit?",),
)
#: Commands of psql that newer versions of pg_dump write; psycopg knows only SQL.
FOR_PSQL = re.compile(r"^\\(?:un)?restrict .*\n", re.MULTILINE)
#: Settings that servers older than the dumping one do not know.
NEWER = re.compile(r"^SET transaction_timeout = 0;\n", re.MULTILINE)
MOST_BYTES = 2_000_000


def main() -> None:
    folder = Path(tempfile.mkdtemp(prefix="marcelcms-dump-"))
    folder.chmod(0o711)  # PostgreSQL runs as another user where this runs as root
    given = {"SECRET_KEY", "STATE_DIR", "PUBLIC_URL", *(part.variable for part in PARTS)}
    for name in [name for name in os.environ if name in given or name.startswith("LLM_")]:
        del os.environ[name]
    os.environ |= {
        "SECRET_KEY": "only for a dump",
        "STATE_DIR": str(folder),
        "EMBEDDING_MODEL": MODEL,
        "DJANGO_SETTINGS_MODULE": "marcelcms.settings",
    }
    try:
        with provide(folder, durable=False):
            fill()
            write(DUMPS / f"{version()}.sql.gz")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def version() -> str:
    return str(tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"])


def fill() -> None:
    """Write rows into every table of the product, through its own doors as far as it has one for them."""
    import django

    django.setup()
    from django.conf import settings
    from django.contrib.auth.models import Group, User
    from django.core.management import call_command
    from django.db import connections

    from analytics.counts.refresh import count_changed
    from analytics.gaps.run import work_on
    from analytics.models import GapRun
    from analytics.retention.run import apply_retention
    from analytics.reviews.collect import collect
    from analytics.shadow.questions import embed_asked
    from core.inference.embeddings import get_embedder
    from marcelcms.accounts.roles import ANALYST, CURATOR, WHOLE_UNIVERSITY
    from tests.staff.matrix.world import make_world

    settings.MEDIA_ROOT.mkdir(parents=True, exist_ok=True)
    settings.STATIC_ROOT.mkdir(parents=True, exist_ok=True)
    connections["default"].settings_dict["CONN_MAX_AGE"] = 0
    call_command("migrate", verbosity=0)
    call_command("load_demo")
    for name, roles in {"curator": [CURATOR, WHOLE_UNIVERSITY], "analyst": [ANALYST]}.items():
        member = User.objects.create_user(name, f"{name}@uni-lindental.example", is_staff=True)
        member.groups.set(Group.objects.filter(name__in=roles))
    owner = User.objects.create_superuser("admin", "admin@uni-lindental.example")
    ask()
    run = GapRun.objects.enqueue()
    if run is None:
        raise SystemExit("no look for gaps could begin")
    work_on(run.pk)
    collect()
    count_changed()
    apply_retention()
    embed_asked(get_embedder(), most=100)
    make_world("Faculty of Music", owner, mark="Music")
    call_command("load_demo")  # it is loaded already: this indexes the rows that the line before added


def ask() -> None:
    """Ask through the socket, as a student does, and rate each conversation's last answer; the last one abstains."""
    from tests.servers import server_in_thread

    with server_in_thread() as server:
        for questions in CONVERSATIONS:
            with server.connect() as tab:
                for question in questions:
                    answer = tab.answer(question)
                    print(f"{question}\n  {answer.text}\n")
                tab.send({"type": "feedback", "message": answer.id, "value": -1, "comment": "Not what I asked."})
                tab.next()


def write(target: Path) -> None:
    """Write the database as SQL that psycopg runs: rows as INSERT, owners and rights left out."""
    from marcelcms.backups.pg_tools import connection_arguments, program

    where, environment = connection_arguments()
    command = [program("pg_dump"), "--dbname", where, "--no-password", "--no-owner", "--no-privileges", "--no-comments"]
    command += ["--inserts", "--rows-per-insert=200"]
    dumped = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    sql = NEWER.sub("", FOR_PSQL.sub("", dumped))
    packed = gzip.compress(sql.encode(), 9, mtime=0)
    if len(packed) > MOST_BYTES:
        raise SystemExit(f"{len(packed):,} bytes are too many for a repository: keep fewer rows")
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(packed)
    print(f"{target.relative_to(ROOT)}: {len(packed):,} bytes")


if __name__ == "__main__":
    sys.exit(main())
