"""Questions and their answers as they are saved. Every step checks that what it touches is the visitor's own."""

import datetime
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from enum import Enum
from functools import lru_cache, partial
from typing import Any
from uuid import UUID

from django.db import IntegrityError, connection
from django.db.models import NOT_PROVIDED, AutoField, Field, Model, Q
from django.utils import timezone
from django.utils.translation import gettext as _
from psycopg.sql import Literal
from psycopg.types.json import Jsonb

from chat.errors import Busy, NotFound
from chat.models import Assistant, Citation, Conversation, Message
from chat.pipeline.answering.help_contacts import card_of, contacts_of
from chat.pipeline.question import Question, build_question_cached, contact_of
from chat.pipeline.understanding.clarify import chosen, stored
from chat.pipeline.understanding.help_classifier import recognised_need
from chat.prompt_template import HISTORY_MESSAGES
from chat.protocol.events import Abstain, Cited, Clarify, End, Help
from chat.sites.lookup import UnknownSite
from core.db.prepared import fetch_all
from core.language import language_of
from core.terms import title_of
from knowledge.guardrails.injection import flag_document, flag_injection

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
            columns[column], made[f"{row}.{column}"] = f"%({row}.{column})s", partial(_database_default, field)
        elif field.get_default() is not None:
            columns[column] = Literal(_database_default(field)).as_string().replace("%", "%%")
        elif not field.null:
            raise TypeError(f"{model.__name__}.{field.name} has no default: give it a value in {__name__}")
    names, values = ", ".join(columns), ", ".join(columns.values())
    return Insert(f"INSERT INTO {model._meta.db_table} ({names}) SELECT {values} {source}", made)


def _database_default(field: "Field[Any, Any]") -> Any:
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
class ConversationState:
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


def load_state(*, visitor: UUID, conversation: UUID, client_id: UUID, site: str) -> ConversationState:
    """`site` is a public id without NUL, empty for this server's own page."""
    parameters = {"visitor": visitor, "conversation": conversation, "client_id": client_id, "site": site}
    (row,) = fetch_all(LOOK, parameters)
    visits, owner, audience, own_site, is_active, assistant, versions, newest, earlier, busy, choices, kinds, said = row
    return ConversationState(
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


def save_question(
    question: Message, *, seen: ConversationState, visitor: UUID, title: str, ask: Question
) -> tuple[int, int] | None:
    """Return the ids of the question and of its empty answer; None if the conversation has changed meanwhile.

    Raises django.db.IntegrityError if another question was faster.
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


#: An answer so young may not have begun to give signs of life.
JUST_BEGUN = datetime.timedelta(seconds=5)
#: Several questions at once may each find that another was faster; the last of so many is told to wait.
ATTEMPTS = 4
#: What the last event tells of an answer that its row keeps under the same name.
RECORDED = (
    *("strategy", "notice", "model", "profile", "prompt", "route", "rewritten", "evidence"),
    *("prompt_tokens", "answer_tokens", "retrieved", "faq_similarity"),
)
#: What of a citation a student sees.
SHOWN_OF_SOURCE = ("n", "title", "url", "heading", "page", "quote", "links")


@dataclass(frozen=True, slots=True)
class StartedAnswer:
    """A saved question, the row its answer goes to, and what is needed to answer it."""

    conversation: UUID
    question: Message
    reply: Message
    ask: Question
    is_new: bool


def own_conversation(visitor: UUID, conversation: UUID) -> Conversation:
    """Return the visitor's own conversation; raise NotFound."""
    found = Conversation.objects.filter(pk=conversation, visitor_id=visitor).first()
    if found is None:
        raise NotFound
    return found


def open_question(
    *,
    visitor: UUID,
    conversation: UUID,
    client_id: UUID,
    text: str,
    language: str,
    site: str = "",
    as_question: bool = False,
) -> StartedAnswer:
    """Save a question and the empty row of its answer, together and before anything else happens.

    The same `client_id` again gives the same rows. A new conversation is with the assistant of `site`, and named after
    its first question. With `as_question` it is looked up even if it reads like a cry for help. Raises NotFound for
    somebody else's conversation or a visitor who is gone, UnknownSite, Busy while another answer is being written.
    """
    if "\0" in site:  # PostgreSQL refuses it
        raise UnknownSite
    for _attempt in range(ATTEMPTS):
        seen = load_state(visitor=visitor, conversation=conversation, client_id=client_id, site=site)
        if not seen.knows_visitor or seen.owner not in (None, visitor):
            raise NotFound
        if not seen.is_site_active and (site or seen.site is not None):
            raise UnknownSite
        ask = replace(_ask_in(seen, visitor, text, language), as_question=as_question)
        if seen.earlier is not None:
            question = Message.objects.select_related("answer").get(pk=seen.earlier)
            return StartedAnswer(conversation, question, question.answer, ask, is_new=False)
        if seen.is_being_answered:
            break
        question = Message(
            conversation_id=conversation,
            role=Message.Role.USER,
            client_id=client_id,
            text=text,
            language=language_of(text) or ask.language,
            flags=list(flag_injection(text)),
            created_at=timezone.now(),
        )
        with suppress(IntegrityError):  # another one was faster
            if saved := save_question(question, seen=seen, visitor=visitor, title=title_of(text), ask=ask):
                question.pk, reply_id = saved
                reply = Message(
                    pk=reply_id,
                    conversation_id=conversation,
                    role=Message.Role.ASSISTANT,
                    question=question,
                    language=ask.language,
                    status=Message.Status.GENERATING,
                    created_at=question.created_at,
                )
                return StartedAnswer(conversation, question, reply, ask, is_new=True)
    raise Busy("busy", _("Another answer in this conversation is still being written. Please wait for it."))


def _ask_in(seen: ConversationState, visitor: UUID, text: str, language: str) -> Question:
    """Where the student was just asked back and this is a choice, the question from before is looked up, and the choice
    holds for the rest of the conversation."""
    choice = chosen(text, seen.choices) if seen.choices else None
    looked_up = str(seen.choices["question"]) if seen.choices and choice else text
    return replace(
        build_question_cached(seen.assistant, seen.versions, looked_up, language),
        # The server's own record is the only history there is: what a client claims was said does not count.
        history=seen.history,
        audience=(*seen.audience, choice.tag) if choice and choice.tag else seen.audience,
        asked_kinds=seen.asked_kinds,
        caller=visitor.hex,
    )


def unfinished_answer(visitor: UUID, conversation: UUID) -> int | None:
    """Return the id of the answer that is being written there, unless it has only just begun."""
    running = Message.objects.filter(
        conversation_id=conversation,
        conversation__visitor_id=visitor,
        status=Message.Status.GENERATING,
        created_at__lt=timezone.now() - JUST_BEGUN,
    )
    return running.values_list("pk", flat=True).first()


def give_up(reply_id: int, text: str) -> None:
    """Save what is known of an answer whose process died."""
    _mark_need(reply_id, _need_of_question(reply_id))
    Message.objects.filter(pk=reply_id, status=Message.Status.GENERATING).update(
        status=Message.Status.FAILED, text=text, reason="interrupted", finished_at=timezone.now()
    )


def _need_of_question(reply_id: int) -> str:
    """Return the need that an answer's question speaks of, if its answer ended before anybody had recognised it."""
    text = Message.objects.filter(answer=reply_id).values_list("text", flat=True).first()
    return recognised_need(text or "") or ""


def _mark_need(reply_id: int, route: str) -> None:
    """Mark a cry for help on both rows, while its answer is not finished: no list of staff's has seen it by then."""
    if route in Message.HELP_ROUTES:
        Message.objects.filter(Q(pk=reply_id) | Q(answer=reply_id)).update(route=route)


def close_answer(
    *, reply_id: int, text: str, status: str, end: End | None, events: list[Cited | Abstain | Clarify | Help]
) -> None:
    """Save the outcome of an answer; an answer deleted meanwhile stays deleted."""
    row: dict[str, Any] = {"text": text}
    _mark_need(reply_id, end.route if end else _need_of_question(reply_id))
    for event in events:
        if isinstance(event, Abstain):
            row |= {"text": event.text, "reason": event.reason, "related": event.related}
        elif isinstance(event, Help):
            row |= {"text": event.text}
        elif isinstance(event, Clarify):
            row |= {"text": event.text, "choices": stored(event)}
    if end is not None:
        row |= {name: getattr(end, name) for name in (*RECORDED, "faq")}
        row["timings_ms"] = {name: round(value, 1) for name, value in (end.timings_ms or {}).items()}
    cited = [event for event in events if isinstance(event, Cited)]
    # A passage may have been re-cut or deleted while the model wrote: the citation keeps its words all the same.
    passages = flagged_texts({event.passage_id for event in cited}) if cited else []
    row["flags"] = sorted({flag for passage in passages for flag in flag_document(passage)})
    save_answer(reply_id, cited=cited, status=str(status), now=timezone.now(), **row)


def saved_messages(conversation: Conversation) -> list[dict[str, Any]]:
    """Return the conversation as the widget shows it, oldest message first; two queries however long it is."""
    contact = contact_of(conversation.assistant)
    contacts = lru_cache(partial(contacts_of, conversation.assistant or Assistant()))
    messages = conversation.messages.select_related("feedback").prefetch_related("citations").order_by("pk")
    return [
        {
            "id": message.pk,
            "role": message.role,
            "client_id": str(message.client_id) if message.client_id else None,
            "text": message.text,
            "status": message.status,
            "created_at": message.created_at.isoformat(),
            "strategy": message.strategy,
            "notice": message.notice,
            "reason": message.reason,
            "sources": [
                {name: getattr(citation, name) for name in SHOWN_OF_SOURCE} for citation in message.citations.all()
            ],
            "choices": [option["label"] for option in message.choices["options"]] if message.choices else [],
            "related": message.related,
            "contact": asdict(contact) if contact and message.status == Message.Status.ABSTAINED else None,
            "help": asdict(card_of(message.route, contacts(), message.language)) if _shows_card(message) else None,
            "feedback": message.feedback.value if hasattr(message, "feedback") else 0,
            "feedback_reasons": message.feedback.reasons if hasattr(message, "feedback") else [],
        }
        for message in messages
    ]


def _shows_card(message: Message) -> bool:
    return message.is_help and message.role == Message.Role.ASSISTANT


def own_running_answer(visitor: UUID, message_id: int) -> int:
    """Return the id of the visitor's own answer that is being written; raise NotFound."""
    running = Message.objects.filter(conversation__visitor_id=visitor, status=Message.Status.GENERATING)
    if not running.filter(pk=message_id).exists():
        raise NotFound
    return message_id
