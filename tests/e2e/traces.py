"""What a stack still knows of a student: in tables, vectors, the lexical index, Valkey with its queues, and files.

A test shows first that a trace is found wherever one is expected: a search that finds nothing proves nothing.
"""

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from tests.runtime.stack import Run

#: Prints where the names stand, and how many tables and vectors it has looked through. A vector is a trace if it
#: is that of one of the texts, but for rounding. The index is asked for a word of its own too, each key of Valkey is
#: read by the command of its type, and a type without one is an error.
SEARCH = """
import base64, json, re, redis
from django.conf import settings
from django.db import connection
from core.inference.embeddings import configured_model, get_embedder
from knowledge.retrieval.live_index import lexical_index, served_generation
from knowledge.models import Passage
from knowledge.retrieval.scope import build_scope

names, texts = {names!r}, {texts!r}
found, vectors = [], 0
model = configured_model()
embedded = [[float(number) for number in vector] for vector in get_embedder(model).embed_questions(texts)]
with connection.cursor() as cursor:
    cursor.execute("SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'")
    tables = [table for (table,) in cursor.fetchall()]
    for table in tables:
        for name in names:
            cursor.execute(f'SELECT count(*) FROM "{{table}}" AS found WHERE found::text ILIKE %s', ["%" + name + "%"])
            if cursor.fetchone()[0]:
                found.append(f"{{table}}: {{name}}")
    cursor.execute("SELECT table_name, column_name FROM information_schema.columns WHERE udt_name = 'halfvec'")
    for table, column in cursor.fetchall():
        cursor.execute(f'SELECT count(*) FROM "{{table}}"')
        vectors += cursor.fetchone()[0]
        for text, vector in zip(texts, embedded):
            is_near = f'vector_dims("{{column}}") = %s AND "{{column}}" <=> %s < 0.001'
            cursor.execute(f'SELECT count(*) FROM "{{table}}" WHERE {{is_near}}', [len(vector), str(vector)])
            if cursor.fetchone()[0]:
                found.append(f"vectors of {{table}}: {{text}}")
generation = served_generation()
index = lexical_index(generation.pk)
index.follow(generation.newest_change)
known = Passage.objects.filter(generation=generation.pk).earliest("pk").text
own_word = max(re.findall(r"\\w+", known), key=len)
assert index.search(own_word, k=1, scope=build_scope()), own_word
found += [f"index: {{name}}" for name in names if index.search(name.split("@")[0], k=1, scope=build_scope())]
valkey = redis.Redis.from_url(settings.REDIS_URL)
assert set(valkey.info("keyspace")) == {{"db0"}}, "no other database holds keys"
READ = {{
    b"string": valkey.get,
    b"list": lambda key: valkey.lrange(key, 0, -1),
    b"hash": valkey.hgetall,
    b"set": valkey.smembers,
    b"zset": lambda key: valkey.zrange(key, 0, -1),
    b"stream": valkey.xrange,
}}
for key in valkey.scan_iter():
    kind = valkey.type(key)
    held = str((key, READ[kind](key)))
    for body in set(re.findall('"body": "([^"]+)"', held)):
        held += base64.b64decode(body).decode(errors="replace")
    found += [f"{{key.decode()}}: {{name}}" for name in names if name.lower() in held.lower()]
print(json.dumps([found, len(tables), vectors]))
"""

#: What is deleted stands in Valkey's file until it is written anew; uncompressed, so that it can be searched.
SAVE = """
import time
from django.conf import settings
from core.redis import valkey
server = valkey(settings.REDIS_URL)
server.config_set("rdbcompression", "no")
server.bgrewriteaof()
while server.info("persistence")["aof_rewrite_in_progress"] or server.info("persistence")["aof_rewrite_scheduled"]:
    time.sleep(0.1)
assert server.info("persistence")["aof_last_bgrewrite_status"] == "ok"
"""


def find_traces(run: Run, names: Sequence[str], texts: Sequence[str]) -> tuple[list[str], int, int]:
    """Return where one of the names, or the vector of one of the texts, is; and how many tables and vectors there are.

    Run beside the stack, so its lexical index is made anew of what is stored, as that of a process that starts.
    """
    found, tables, vectors = json.loads(run.does(SEARCH.format(names=list(names), texts=list(texts))))
    return found, tables, vectors


def find_in_files(folder: Path, names: Sequence[str]) -> list[str]:
    """Return the files that hold a name, logs included, but for those of the database itself."""
    found = []
    for path in folder.rglob("*"):
        if "postgres" in str(path.relative_to(folder)):
            continue
        with suppress(OSError):
            held = path.read_bytes().lower()
            found += [f"{path}: {name}" for name in names if name.lower().encode() in held]
    return found


def save_valkey(run: Run) -> None:
    """Have Valkey write its file anew, also later ones so that they can be searched."""
    run.does(SAVE)
