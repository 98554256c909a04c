"""Saves a question with the empty row of its answer, in one statement that reads and one that writes."""

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.db import IntegrityError
from django.utils import timezone
from django.utils.translation import gettext as _

from chat.conversations.inserts import insert
from chat.errors import Busy, NotFound, Refused
from chat.models import Conversation, Message
from chat.models.experiments import Arm, arm_of
from chat.pipeline.question import Question, build_question_cached
from chat.pipeline.understanding.clarify import audience_of, chosen, looked_up
from chat.prompt_template import HISTORY_MESSAGES
from chat.sites.lookup import UnknownSite
from core.db.prepared import fetch_all
from core.language import detect_language
from core.terms import make_title
from knowledge.guardrails.injection import flag_injection

#: `versions` are those of all rows that decide how the assistant answers, as PostgreSQL tells them apart (place and
#: transaction): whichever is edited, they differ. A cry for help is no part of the history: the next question is not
#: rewritten with it, nor is it sent to a model. What was replaced, or is to be, does not count either.
LOOK = f"""
WITH said AS MATERIALIZED (
    SELECT id, role, text, client_id, status, choices, route, is_replaced,
        NOT is_replaced AND (%(replaces)s::bigint IS NULL OR id < %(replaces)s::bigint) AS counts
    FROM chat_message WHERE conversation_id = %(conversation)s
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
        (SELECT md5(string_agg(example.ctid || ' ' || example.xmin, ' ' ORDER BY example.id))
            FROM chat_kindexample AS example WHERE example.assistant_id = assistant.id),
        (SELECT string_agg(collection.ctid || ' ' || collection.xmin, ' ' ORDER BY collection.id)
            FROM chat_assistant_collections AS chosen
            JOIN knowledge_collection AS collection ON collection.id = chosen.collection_id
            WHERE chosen.assistant_id = assistant.id),
        (SELECT string_agg(layout.ctid || ' ' || layout.xmin, ' ' ORDER BY layout.id) FROM chat_modellayout AS layout),
        experiment.ctid || ' ' || experiment.xmin,
        (SELECT tried.ctid || ' ' || tried.xmin FROM chat_promptversion AS tried
            WHERE tried.number = experiment.prompt_id),
        (SELECT tried.ctid || ' ' || tried.xmin FROM chat_retrievalprofile AS tried
            WHERE tried.id = experiment.profile_id),
        (SELECT string_agg(leg.ctid || ' ' || leg.xmin, ' ' ORDER BY leg.id) FROM chat_profileleg AS leg
            WHERE leg.profile_id = experiment.profile_id),
        (SELECT string_agg(collection.ctid || ' ' || collection.xmin, ' ' ORDER BY collection.id)
            FROM chat_experiment_collections AS chosen
            JOIN knowledge_collection AS collection ON collection.id = chosen.collection_id
            WHERE chosen.experiment_id = experiment.id)
    ],
    experiment.id, experiment.share, conversation.experiment_id = experiment.id, conversation.arm,
    (SELECT max(id) FROM said),
    (SELECT id FROM said WHERE client_id = %(client_id)s),
    EXISTS (SELECT FROM said WHERE status = 'generating'),
    (SELECT max(id) FROM said WHERE role = 'user' AND NOT is_replaced),
    (SELECT choices::json FROM said WHERE role = 'assistant' AND counts ORDER BY id DESC LIMIT 1),
    ARRAY(SELECT choices ->> 'kind' FROM said WHERE choices IS NOT NULL AND counts ORDER BY id),
    (SELECT json_agg(json_build_array(role, text) ORDER BY id)
        FROM (SELECT id, role, text FROM said
        WHERE counts AND text <> '' AND (role = 'user' OR status IN ('complete', 'abstained'))
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
LEFT JOIN chat_experiment AS experiment ON experiment.assistant_id = assistant.id AND experiment.state = 'running'
"""  # noqa: S608 - made of constants
CONVERSATION = insert(
    "conversation",
    Conversation,
    id="%(conversation)s",
    visitor_id="%(visitor)s",
    assistant_id="%(assistant)s",
    site_id="%(site)s",
    audience="%(audience)s",
    title="%(title)s",
    experiment_id="%(experiment)s",
    arm="%(arm)s",
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
), replaced AS (
    UPDATE chat_message SET is_replaced = true FROM conversation
    WHERE conversation_id = conversation.id AND chat_message.id >= %(replaces)s::bigint
    RETURNING chat_message.id
)
{ANSWER.sql}
RETURNING question_id, id
"""  # noqa: S608 - made of constants
OPEN_MADE = {**CONVERSATION.made, **QUESTION.made, **ANSWER.made}
#: Several questions at once may each find that another was faster; the last of so many is told to wait.
ATTEMPTS = 4


@dataclass(frozen=True, slots=True)
class ConversationState:
    """The state of a conversation, at one moment, on which a question to it depends.

    `owner` is None where there is no such conversation yet; `newest` is the id of its newest message, `earlier` that of
    the question with the same client id, `choices` what its last answer asked back. `assistant` is the conversation's,
    or for a new one that of its site. `history` is (role, text), oldest first. `experiment` is the one that is running
    if the conversation takes part in it, with its `arm`.
    """

    knows_visitor: bool
    owner: UUID | None
    audience: tuple[str, ...]
    site: int | None
    is_site_active: bool | None
    assistant: int | None
    versions: tuple[str | None, ...]
    experiment: int | None
    arm: str
    newest: int
    latest_question: int | None
    earlier: int | None
    is_being_answered: bool
    choices: dict[str, Any] | None
    asked_kinds: tuple[str, ...]
    history: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class StartedAnswer:
    """A saved question, the row its answer goes to, and what is needed to answer it."""

    conversation: UUID
    question: Message
    reply: Message
    ask: Question
    is_new: bool
    replaces: int | None = None


def load_state(
    *, visitor: UUID, conversation: UUID, client_id: UUID, site: str, replaces: int | None = None
) -> ConversationState:
    """`site` is a public id without NUL, empty for this server's own page; `replaces` does not count."""
    parameters = {"visitor": visitor, "conversation": conversation, "client_id": client_id, "site": site}
    (row,) = fetch_all(LOOK, parameters | {"replaces": replaces})
    visits, owner, audience, own_site, is_active, assistant, versions = row[:7]
    running, share, takes_part, arm = row[7:11]
    newest, earlier, busy, latest, choices, kinds, said = row[11:]
    if owner is None and running is not None:
        takes_part, arm = True, arm_of(running, share, conversation)
    return ConversationState(
        knows_visitor=visits,
        owner=owner,
        audience=tuple(audience or ()),
        site=own_site,
        is_site_active=is_active,
        assistant=assistant,
        versions=tuple(versions),
        experiment=running if takes_part else None,
        arm=arm if takes_part else "",
        newest=newest or 0,
        latest_question=latest,
        earlier=earlier,
        is_being_answered=busy,
        choices=choices,
        asked_kinds=tuple(kinds),
        history=tuple((role, text) for role, text in said or ()),
    )


def open_question(
    *,
    visitor: UUID,
    conversation: UUID,
    client_id: UUID,
    text: str,
    language: str,
    site: str = "",
    as_question: bool = False,
    replaces: int | None = None,
) -> StartedAnswer:
    """Save a question and the empty row of its answer, together and before anything else happens.

    The same `client_id` again gives the same rows. A new conversation is with the assistant of `site`, and named after
    its first question. With `as_question` it is looked up even if it reads like a cry for help. The latest question is
    replaced if `replaces` names it: it and its answer are kept, but no longer count. Raises NotFound for somebody
    else's conversation or a visitor who is gone, UnknownSite, Busy while another answer is being written, Refused for
    an older question.
    """
    if "\0" in site:  # PostgreSQL refuses it
        raise UnknownSite
    for _attempt in range(ATTEMPTS):
        seen = load_state(visitor=visitor, conversation=conversation, client_id=client_id, site=site, replaces=replaces)
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
        if replaces is not None and replaces != seen.latest_question:
            raise Refused("not_latest", _("Only the latest question can be changed. Please ask anew."))
        question = new_question(text, conversation=conversation, client_id=client_id, ask=ask)
        with suppress(IntegrityError):  # another one was faster
            if saved := save_question(
                question, seen=seen, visitor=visitor, title=make_title(text), ask=ask, replaces=replaces
            ):
                return begun_answer(question, saved, ask, replaces=replaces)
    raise Busy("busy", _("Another answer in this conversation is still being written. Please wait for it."))


def new_question(text: str, *, conversation: UUID, client_id: UUID, ask: Question) -> Message:
    """Build the row of a question that is asked now."""
    return Message(
        conversation_id=conversation,
        role=Message.Role.USER,
        client_id=client_id,
        text=text,
        language=detect_language(text) or ask.language,
        flags=list(flag_injection(text)),
        created_at=timezone.now(),
    )


def begun_answer(
    question: Message, saved: tuple[int, int], ask: Question, *, replaces: int | None = None
) -> StartedAnswer:
    """Return the new answer to a question; `saved` are the ids of both rows."""
    question.pk, reply_id = saved
    reply = Message(
        pk=reply_id,
        conversation_id=question.conversation_id,
        role=Message.Role.ASSISTANT,
        question=question,
        language=ask.language,
        status=Message.Status.GENERATING,
        created_at=question.created_at,
    )
    return StartedAnswer(question.conversation_id, question, reply, ask, is_new=True, replaces=replaces)


def _ask_in(seen: ConversationState, visitor: UUID, text: str, language: str) -> Question:
    """Return the question to look up.

    If the student was just asked back and this is a choice, that is the question from before, and the choice holds for
    the rest of the conversation.
    """
    choice = chosen(text, seen.choices) if seen.choices else None
    again = looked_up(seen.choices, choice) if seen.choices and choice else text
    tried = seen.experiment if seen.arm == Arm.OTHER else None
    return replace(
        build_question_cached(seen.assistant, tried, seen.versions, again, language),
        # The server's own record is the only history there is: what a client claims was said does not count.
        history=seen.history,
        audience=(*seen.audience, *audience_of(choice)) if choice else seen.audience,
        asked_kinds=seen.asked_kinds,
        caller=visitor.hex,
        may_lag=True,
    )


def save_question(
    question: Message, *, seen: ConversationState, visitor: UUID, title: str, ask: Question, replaces: int | None = None
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
        "experiment": seen.experiment,
        "arm": seen.arm,
        "newest": seen.newest,
        "replaces": replaces,
        "client_id": question.client_id,
        "text": question.text,
        "language": question.language,
        "flags": question.flags,
        "answer_language": ask.language,
        "now": question.created_at,
    }
    row |= {name: make() for name, make in OPEN_MADE.items()}
    return next(((asked, answer) for asked, answer in fetch_all(OPEN, row)), None)
