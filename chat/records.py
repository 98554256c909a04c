"""A question and its answer as rows: one statement looks at a conversation, one writes a question, one its answer.

Each is a transaction of its own, so a question costs PostgreSQL three; what two of them at once must not do, the
constraints of `Message` forbid.
"""

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from chat.context import Ask
from chat.events import Cited
from chat.models import Message
from chat.prompt_templates import HISTORY_MESSAGES
from knowledge.prepared import fetch_all

#: `versions` are those of all rows that decide how the assistant answers, as PostgreSQL tells them apart (place and
#: transaction): whichever is edited, they differ.
LOOK = f"""
WITH said AS MATERIALIZED (
    SELECT id, role, text, client_id, status, choices FROM chat_message WHERE conversation_id = %(conversation)s
)
SELECT
    EXISTS (SELECT FROM chat_visitor WHERE id = %(visitor)s), conversation.visitor_id, conversation.audience,
    site.id, site.is_active, assistant.id,
    ARRAY[
        assistant.ctid || ' ' || assistant.xmin, prompt.ctid || ' ' || prompt.xmin, profile.ctid || ' ' || profile.xmin,
        (SELECT string_agg(leg.ctid || ' ' || leg.xmin, ' ' ORDER BY leg.id) FROM chat_profileleg AS leg
            WHERE leg.profile_id = profile.id),
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

#: What no message is made without, and what a new one has of it.
MESSAGE = """
    strategy, reason, notice, model, profile, prompt, rewritten, route, related, retrieved, timings_ms, created_at
"""
DEFAULTS = """'', '', '', '', '', '', '', '', '[]'::jsonb, '[]'::jsonb, '{}'::jsonb, %(now)s"""
#: No row comes back where the conversation is another visitor's, or something was said in it since `newest`.
OPEN = f"""
WITH conversation AS (
    INSERT INTO chat_conversation AS kept
        (id, visitor_id, assistant_id, site_id, audience, title, created_at, updated_at)
    VALUES (%(conversation)s, %(visitor)s, %(assistant)s, %(site)s, %(audience)s, %(title)s, %(now)s, %(now)s)
    ON CONFLICT (id) DO UPDATE SET updated_at = excluded.updated_at, audience = excluded.audience
    WHERE kept.visitor_id = excluded.visitor_id
        AND NOT EXISTS (SELECT FROM chat_message WHERE conversation_id = kept.id AND id > %(newest)s)
    RETURNING id
), question AS (
    INSERT INTO chat_message (conversation_id, role, client_id, text, status, language, flags, {MESSAGE})
    SELECT id, 'user', %(client_id)s, %(text)s, 'complete', %(language)s, %(flags)s, {DEFAULTS} FROM conversation
    RETURNING id, conversation_id
)
INSERT INTO chat_message (conversation_id, role, question_id, text, status, language, flags, {MESSAGE})
SELECT conversation_id, 'assistant', id, '', 'generating', %(answer_language)s, '{{}}', {DEFAULTS} FROM question
RETURNING question_id, id
"""  # noqa: S608

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
CITE = f"""
WITH saved AS ({CLOSE})
INSERT INTO chat_citation (message_id, document_id, passage_id, n, title, url, heading, page, quote, links)
SELECT saved.id, document.id, passage.id, cited.n, cited.title, cited.url, cited.heading, cited.page, cited.quote,
    cited.links
FROM saved CROSS JOIN jsonb_to_recordset(%(cited)s) AS cited(
    document bigint, passage bigint, n int, title text, url text, heading text, page int, quote text, links jsonb)
LEFT JOIN knowledge_document AS document ON document.id = cited.document
LEFT JOIN knowledge_passage AS passage ON passage.id = cited.passage
RETURNING n
"""  # noqa: S608


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
    fetch_all(CITE, known | {"cited": Jsonb(sources)})
