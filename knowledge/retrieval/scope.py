"""The scope of a retrieval: by the names of collections, and as a condition of SQL."""

from collections.abc import Iterable, Sequence
from typing import Any

from core.db.prepared import fetch_all
from knowledge.models import Collection
from knowledge.retrieval.types import Scope

#: Of a row `document`; its parameters are `scope_parameters`.
IN_SCOPE = """
document.status = 'published' AND document.collection_id = ANY(%(collections)s::bigint[])
AND (document.valid_from IS NULL OR document.valid_from <= %(on)s)
AND (document.valid_until IS NULL OR document.valid_until >= %(on)s)
AND (%(language)s::text = '' OR split_part(document.language, '-', 1) = %(language)s::text)
AND (document.audience = '{}' OR NOT EXISTS (
    SELECT FROM unnest(document.audience) AS tag WHERE split_part(tag, ':', 1) = ANY(%(kinds)s::text[])
    GROUP BY split_part(tag, ':', 1) HAVING NOT bool_or(tag = ANY(%(audience)s::text[]))
))
"""


class UnknownCollection(ValueError):
    """A named collection does not exist; the message lists those that do."""


def read_kind(tag: str) -> str:
    return tag.partition(":")[0]


def scope_parameters(scope: Scope) -> dict[str, Any]:
    return {
        "collections": list(scope.collection_ids),
        "on": scope.on,
        "language": scope.language,
        "audience": list(scope.audience),
        "kinds": list({read_kind(tag) for tag in scope.audience}),
    }


def build_scope(slugs: Iterable[str] = (), *, language: str = "", audience: Sequence[str] = ()) -> Scope:
    """Build the scope of the named collections, or of those searched by default, as of today.

    Raises UnknownCollection.
    """
    wanted = list(slugs)
    if not wanted:
        found = tuple(pk for (pk,) in fetch_all("SELECT id FROM knowledge_collection WHERE searched_by_default"))
        return Scope(found, language, tuple(audience))
    there = dict(fetch_all("SELECT slug, id FROM knowledge_collection WHERE slug = ANY(%s)", [wanted]))
    if missing := [slug for slug in wanted if slug not in there]:
        known = ", ".join(Collection.objects.values_list("slug", flat=True)) or "none yet"
        raise UnknownCollection(f"No collection is called {', '.join(missing)}. There are: {known}.")
    return Scope(tuple(there.values()), language, tuple(audience))
