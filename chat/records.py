"""A question and its answer as rows: one statement looks at a conversation, one writes a question, one its answer.

Each is a transaction of its own, so a question costs PostgreSQL three; what two of them at once must not do, the
constraints of `Message` forbid.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import Enum
from functools import partial
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import NOT_PROVIDED, AutoField, Field, Model
from psycopg.sql import Literal
from psycopg.types.json import Jsonb

from chat.context import Ask
from chat.events import Cited
from chat.models import Citation, Conversation, Message
from chat.prompt_templates import HISTORY_MESSAGES
from knowledge.prepared import fetch_all

#: `versions` are those of all rows that decide how the assistant answers, as PostgreSQL tells them apart (place and
#: transaction): whichever is edited, they differ. A cry for help is no part of the history: the next question is not
#: rewritten with it, nor is it sent to a model.
LOOK = f"""
WITH said AS MATERIALIZED (
    SELECT id, role, text, client_id, status, choices, route FROM chat_message WHERE conversation_id = %(conversation)s
)
SELECT
    EXISTS (SELECT FROM chat_visitor WHERE id = %(visitor)s), conversation.visitor_id, conversation.audience,
    site.id, site.is_active, assistant.id,
    ARRAY[
        assistant.ctid || ' ' || assistant.xmin, prompt.ctid || ' ' || prompt.xmin, profile.ctid || ' ' || profile.xmin,
        (SELECT string_agg(leg.ctid || ' ' || leg.xmin, ' ' ORDER BY leg.id) FROM chat_profileleg AS leg
            WHERE leg.profile_id = profile.id),
        (SELECT string_agg(contact.ctid || ' ' || contact.xmin, ' ' ORDER BY contact.id)
            FROM chat_emergencycontact AS contact WHERE contact.assistant_id = assistant.id),
        (SELECT string_agg(collection.ctid || ' ' || collection.xmin, ' ' ORDER BY collection.id)
            FROM chat_assistant_collections AS chosen
            JOIN knowledge_collection AS collection ON collection.id = chosen.collection_id
            WHERE chosen.assistant_id = assistant.id)
    ],
    (SELECT max(id) FROM said),
    (SELECT id FROM said WHERE client_id = %(client_id)s),
    EXISTS (SELECT FROM said WHERE status = 'generating'),
    (SELECT choices::json FROM said WHERE role = 'assistant' ORDER BY id DESC LIMIT 1),
    ARRAY(SELECT choices ->> 'kind' FROM said WHERE choices IS NOT NULL ORDER BY id),
    (SELECT json_agg(json_build_array(role, text) ORDER BY id)
        FROM (SELECT id, role, text FROM said
        WHERE text <> '' AND (role = 'user' OR status IN ('complete', 'abstained'))
            AND route NOT IN {tuple(map(str, Message.HELP_ROUTES))}
        ORDER BY id DESC LIMIT {HISTORY_MESSAGES}) AS latest)
FROM (SELECT) AS nothing
LEFT JOIN chat_site AS site
    ON CASE WHEN %(site)s::text = '' THEN site.is_default ELSE site.public_id = %(site)s::text END
LEFT JOIN chat_conversation AS conversation ON conversation.id = %(conversation)s
LEFT JOIN chat_assistant AS assistant ON assistant.id = CASE
    WHEN conversation.id IS NOT NULL THEN conversation.assistant_id
    ELSE coalesce(site.assistant_id, (SELECT min(id) FROM chat_assistant)) END
LEFT JOIN chat_promptversion AS prompt ON prompt.number = assistant.prompt_id
LEFT JOIN chat_retrievalprofile AS profile ON profile.id = assistant.profile_id
"""  # noqa: S608 - made of constants


@dataclass(frozen=True, slots=True)
class Insert:
    """An INSERT of one model's rows. `made` are its parameters that each execution makes anew."""

    sql: str
    made: Mapping[str, Callable[[], Any]]


def insert(row: str, model: type[Model], source: str = "", **given: str) -> Insert:
    """Return the INSERT with what is `given` for its columns; every other column gets its field's default.

    The values are SQL expressions over `source`. The parameter `now` is the time of the fields that Django sets by
    itself, and `row` tells several rows of one statement apart. Raises TypeError if a column has no value: when this
    module is imported, and not when a student asks.
    """
    columns, made = dict(given), {}
    for field in model._meta.concrete_fields:
        column = field.column
        is_databases = isinstance(field, AutoField) or field.generated or field.db_default is not NOT_PROVIDED
        if column is None or column in given or is_databases:
            continue
        if getattr(field, "auto_now", False) or getattr(field, "auto_now_add", False):
            columns[column] = "%(now)s"
        elif callable(field.default) and not isinstance(field.default, type):  # `list` is the same for every row
            columns[column], made[f"{row}.{column}"] = f"%({row}.{column})s", partial(_default_of, field)
        elif field.get_default() is not None:
            columns[column] = Literal(_default_of(field)).as_string().replace("%", "%%")
        elif not field.null:
            raise TypeError(f"{model.__name__}.{field.name} has no default: give it a value in {__name__}")
    names, values = ", ".join(columns), ", ".join(columns.values())
    return Insert(f"INSERT INTO {model._meta.db_table} ({names}) SELECT {values} {source}", made)


def _default_of(field: "Field[Any, Any]") -> Any:
    """Return the default as psycopg writes it."""
    value = field.get_db_prep_save(field.get_default(), connection)
    return value.value if isinstance(value, Enum) else value


CONVERSATION = insert(
    "conversation",
    Conversation,
    id="%(conversation)s",
    visitor_id="%(visitor)s",
    assistant_id="%(assistant)s",
    site_id="%(site)s",
    audience="%(audience)s",
    title="%(title)s",
)
QUESTION = insert(
    "question",
    Message,
    "FROM conversation",
    conversation_id="id",
    role="'user'",
    client_id="%(client_id)s",
    text="%(text)s",
    status="'complete'",
    language="%(language)s",
    flags="%(flags)s",
)
ANSWER = insert(
    "answer",
    Message,
    "FROM question",
    conversation_id="conversation_id",
    role="'assistant'",
    question_id="id",
    status="'generating'",
    language="%(answer_language)s",
)
#: No row comes back where the conversation is another visitor's, or something was said in it since `newest`.
OPEN = f"""
WITH conversation AS (
    {CONVERSATION.sql}
    ON CONFLICT (id) DO UPDATE SET updated_at = excluded.updated_at, audience = excluded.audience
    WHERE chat_conversation.visitor_id = excluded.visitor_id
        AND NOT EXISTS (SELECT FROM chat_message WHERE conversation_id = chat_conversation.id AND id > %(newest)s)
    RETURNING id
), question AS (
    {QUESTION.sql}
    RETURNING id, conversation_id
)
{ANSWER.sql}
RETURNING question_id, id
"""
OPEN_MADE = {**CONVERSATION.made, **QUESTION.made, **ANSWER.made}

#: What of an answer stays as it is where nothing is known of it.
KEPT = (
    *("strategy", "reason", "notice", "model", "profile", "prompt", "route", "rewritten", "choices", "related"),
    *("prompt_tokens", "answer_tokens", "evidence", "retrieved", "faq_similarity", "timings_ms"),
)
CLOSE = f"""
UPDATE chat_message SET text = %(text)s, status = %(status)s, finished_at = %(now)s, flags = %(flags)s,
    {", ".join(f"{name} = coalesce(%({name})s, {name})" for name in KEPT)},
    faq_id = coalesce((SELECT id FROM faqs_faq WHERE id = %(faq)s), faq_id)
WHERE id = %(id)s RETURNING id
"""  # noqa: S608
#: A document or passage that is gone is not named.
CITATION = insert(
    "citation",
    Citation,
    """
FROM saved CROSS JOIN jsonb_to_recordset(%(cited)s) AS cited(
    document bigint, passage bigint, n int, title text, url text, heading text, page int, quote text, links jsonb)
LEFT JOIN knowledge_document AS document ON document.id = cited.document
LEFT JOIN knowledge_passage AS passage ON passage.id = cited.passage
""",
    message_id="saved.id",
    document_id="document.id",
    passage_id="passage.id",
    **{name: f"cited.{name}" for name in ("n", "title", "url", "heading", "page", "quote", "links")},
)
CITE = f"""
WITH saved AS ({CLOSE})
{CITATION.sql}
RETURNING n
"""


@dataclass(frozen=True, slots=True)
class Look:
    """What a question to a conversation depends on, at one moment.

    `owner` is None where there is no such conversation yet; `newest` is the id of its newest message, `earlier` that of
    the question with the same client id, `choices` what its last answer asked back. `assistant` is the conversation's,
    or for a new one that of its site. `history` is (role, text), oldest first.
    """

    knows_visitor: bool
    owner: UUID | None
    audience: tuple[str, ...]
    site: int | None
    is_site_active: bool | None
    assistant: int | None
    versions: tuple[str | None, ...]
    newest: int
    earlier: int | None
    is_being_answered: bool
    choices: dict[str, Any] | None
    asked_kinds: tuple[str, ...]
    history: tuple[tuple[str, str], ...]


def look(*, visitor: UUID, conversation: UUID, client_id: UUID, site: str) -> Look:
    """`site` is a public id without NUL, empty for this server's own page."""
    parameters = {"visitor": visitor, "conversation": conversation, "client_id": client_id, "site": site}
    (row,) = fetch_all(LOOK, parameters)
    visits, owner, audience, own_site, is_active, assistant, versions, newest, earlier, busy, choices, kinds, said = row
    return Look(
        knows_visitor=visits,
        owner=owner,
        audience=tuple(audience or ()),
        site=own_site,
        is_site_active=is_active,
        assistant=assistant,
        versions=tuple(versions),
        newest=newest or 0,
        earlier=earlier,
        is_being_answered=busy,
        choices=choices,
        asked_kinds=tuple(kinds),
        history=tuple((role, text) for role, text in said or ()),
    )


def save_question(question: Message, *, seen: Look, visitor: UUID, title: str, ask: Ask) -> tuple[int, int] | None:
    """The ids of the question and of its empty answer, None where the conversation has changed since it was looked at.

    Raises django.db.IntegrityError where another question was faster.
    """
    row = {
        "conversation": question.conversation_id,
        "visitor": visitor,
        "assistant": seen.assistant,
        "site": seen.site,
        "audience": list(ask.audience),
        "title": title,
        "newest": seen.newest,
        "client_id": question.client_id,
        "text": question.text,
        "language": question.language,
        "flags": question.flags,
        "answer_language": ask.language,
        "now": question.created_at,
    }
    row |= {name: make() for name, make in OPEN_MADE.items()}
    return next(((asked, answer) for asked, answer in fetch_all(OPEN, row)), None)


def flagged_texts(passages: Collection[int]) -> list[str]:
    """Return the texts of those passages that are still there and were flagged when they were indexed."""
    statement = "SELECT text FROM knowledge_passage WHERE id = ANY(%s) AND flags <> '{}'"
    return [text for (text,) in fetch_all(statement, [list(passages)])]


def save_answer(reply_id: int, *, cited: Sequence[Cited], **row: Any) -> None:
    """`row` has text, status, now and flags, and of KEPT and `faq` what is known; a row that is gone stays gone."""
    known = dict.fromkeys((*KEPT, "faq")) | row | {"id": reply_id}
    for name in ("choices", "related", "retrieved", "timings_ms"):
        known[name] = None if known[name] is None else Jsonb(known[name])
    if not cited:
        fetch_all(CLOSE, known)
        return
    sources = [{"document": each.document_id, "passage": each.passage_id, **asdict(each.source)} for each in cited]
    known |= {name: make() for name, make in CITATION.made.items()}
    fetch_all(CITE, known | {"cited": Jsonb(sources)})
