"""Saves what became of an answer, with its citations."""

import datetime
from collections.abc import Collection, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.utils import timezone
from psycopg.types.json import Jsonb

from chat.conversations.inserts import insert
from chat.models import AnswerRecord, Citation, HeldBackSentence, Message
from chat.pipeline.moment import with_citations
from chat.pipeline.reply import Reply
from chat.pipeline.understanding.clarify import stored
from chat.pipeline.understanding.help_classifier import recognised_need
from chat.pipeline.understanding.own_examples.examples import NO_EXAMPLES
from chat.pipeline.understanding.own_examples.loading import load_own_needs
from chat.protocol.answer_events import Cited, End, HeldBack, Outcome
from chat.protocol.moment import Moment
from chat.protocol.shapes import OfficeWords
from chat.webhooks.answers import announcing_abstention
from core.db.prepared import fetch_all
from core.text import strip_nul
from knowledge.guardrails.injection import flag_document

#: What of an answer stays as it is where nothing is known of it.
KEPT = (
    *("strategy", "reason", "notice", "model", "profile", "prompt", "route", "rewritten", "readings"),
    *("choices", "related", "office"),
    *("prompt_tokens", "answer_tokens", "evidence", "retrieved", "faq_similarity", "timings_ms"),
    *("sentences_shown", "sentences_quoted", "sentences_left_out"),
)
CLOSE = f"""
UPDATE chat_message SET text = %(text)s, status = %(status)s, finished_at = %(now)s, flags = %(flags)s,
    {", ".join(f"{name} = coalesce(%({name})s, {name})" for name in KEPT)},
    faq_id = coalesce((SELECT id FROM faqs_faq WHERE id = %(faq)s), faq_id)
WHERE id = %(id)s RETURNING id, conversation_id, language
"""  # noqa: S608
#: A document or passage that is gone is not named.
CITATION = insert(
    "citation",
    Citation,
    """
FROM saved CROSS JOIN jsonb_to_recordset(%(cited)s) AS cited(
    document bigint, passage bigint, n int, title text, url text, heading text, page int, quote text, links jsonb,
    language text, checked_on text, edition text, read_by_ocr boolean)
LEFT JOIN knowledge_document AS document ON document.id = cited.document
LEFT JOIN knowledge_passage AS passage ON passage.id = cited.passage
""",
    message_id="saved.id",
    document_id="document.id",
    passage_id="passage.id",
    **{name: f"cited.{name}" for name in ("n", "title", "url", "heading", "page", "quote", "links")},
    **{name: f"cited.{name}" for name in ("language", "checked_on", "edition", "read_by_ocr")},
)
HELD_BACK = insert(
    "held",
    HeldBackSentence,
    """
FROM saved JOIN chat_conversation AS conversation ON conversation.id = saved.conversation_id
CROSS JOIN jsonb_to_recordset(%(held)s) AS held(n int, text text, reasons text[], parts text[], outcome text,
    page_words text, document bigint, title text, url text, heading text, page int)
LEFT JOIN knowledge_document AS document ON document.id = held.document
""",
    message_id="saved.id",
    language="saved.language",
    assistant_id="conversation.assistant_id",
    document_id="document.id",
    **{name: f"held.{name}" for name in ("n", "text", "reasons", "parts", "outcome", "page_words")},
    **{name: f"held.{name}" for name in ("title", "url", "heading", "page")},
)
RECORD = insert(
    "record", AnswerRecord, "FROM saved WHERE %(moment)s::jsonb IS NOT NULL", message_id="saved.id", moment="%(moment)s"
)
CLOSE_WITH_PARTS = f"""
WITH saved AS ({CLOSE}), cited AS ({CITATION.sql} RETURNING n), held_back AS ({HELD_BACK.sql} RETURNING n),
    recorded AS ({RECORD.sql} RETURNING message_id)
SELECT id FROM saved
"""  # noqa: S608
#: What the last event tells of an answer that its row keeps under the same name.
RECORDED = (
    *("strategy", "notice", "model", "profile", "prompt", "route", "rewritten", "readings"),
    "evidence",
    *("prompt_tokens", "answer_tokens", "retrieved", "faq_similarity"),
)
#: What is kept of the sentences that were held back from one answer, and characters of each text.
MOST_HELD_BACK, SENTENCE_CHARACTERS, PART_CHARACTERS, KIND_CHARACTERS = 40, 1_500, 200, 30
#: A new answer may have no lease yet.
JUST_BEGUN = datetime.timedelta(seconds=5)


def close_answer(*, reply_id: int, reply: Reply, status: str) -> None:
    """Save the outcome of an answer; an answer deleted meanwhile stays deleted."""
    end = reply.end
    _mark_need(reply_id, end.route if end else _need_of_question(reply_id))
    row: dict[str, Any] = {"text": reply.text}
    if reply.abstained:
        row |= {"reason": reply.reason}
    if reply.related:
        row |= {"related": reply.related}
    if reply.office:
        row |= {"office": asdict(reply.office)}
    if reply.clarified:
        row |= {"choices": stored(reply.clarified)}
    if end is not None:
        row |= {name: getattr(end, name) for name in (*RECORDED, "faq")}
        row["timings_ms"] = {name: round(value, 1) for name, value in (end.timings_ms or {}).items()}
        row |= count_sentences(end)
    moment = with_citations(end.moment, reply.cited) if end and end.moment else None
    # A passage may have been re-cut or deleted while the model wrote: the citation keeps its words all the same.
    passages = flagged_texts({event.passage_id for event in reply.cited}) if reply.cited else []
    row["flags"] = sorted({flag for passage in passages for flag in flag_document(passage)})
    held_back = end.held_back if end else ()
    abstains = status == Message.Status.ABSTAINED
    with announcing_abstention(reply_id) if abstains else nullcontext():
        save_answer(
            reply_id,
            cited=reply.cited,
            held_back=held_back,
            moment=moment,
            status=str(status),
            now=timezone.now(),
            **row,
        )


def count_sentences(end: End) -> dict[str, int]:
    """Return the counts of the sentences that the language model wrote, if it wrote any."""
    if end.sentences_shown is None:
        return {}
    quoted = sum(each.outcome == Outcome.QUOTED for each in end.held_back)
    return {
        "sentences_shown": end.sentences_shown,
        "sentences_quoted": quoted,
        "sentences_left_out": len(end.held_back) - quoted,
    }


def save_answer(
    reply_id: int, *, cited: Sequence[Cited], held_back: Sequence[HeldBack] = (), moment: Moment | None, **row: Any
) -> None:
    """Update the row if it is still there.

    `row` has text, status, now and flags, and what is known of KEPT and `faq`.
    """
    known = dict.fromkeys((*KEPT, "faq")) | row | {"id": reply_id}
    for name in ("choices", "related", "readings", "office", "retrieved", "timings_ms"):
        known[name] = None if known[name] is None else Jsonb(known[name])
    if not cited and not held_back and moment is None:
        fetch_all(CLOSE, known)
        return
    sources = [{"document": each.document_id, "passage": each.passage_id, **asdict(each.source)} for each in cited]
    known |= {name: make() for statement in (CITATION, HELD_BACK, RECORD) for name, make in statement.made.items()}
    held = [_held_row(n, each) for n, each in enumerate(held_back[:MOST_HELD_BACK], start=1)]
    known |= {"cited": Jsonb(sources), "held": Jsonb(held), "moment": Jsonb(moment.to_json()) if moment else None}
    fetch_all(CLOSE_WITH_PARTS, known)


def _held_row(n: int, held: HeldBack) -> dict[str, Any]:
    return {
        "n": n,
        "text": strip_nul(held.text[:SENTENCE_CHARACTERS]),
        "reasons": [kind[:KIND_CHARACTERS] for kind, _part in held.reasons],
        "parts": [strip_nul(part[:PART_CHARACTERS]) for _kind, part in held.reasons],
        "outcome": held.outcome,
        "page_words": held.page_words[:SENTENCE_CHARACTERS],
        "document": held.document_id,
        **{name: getattr(held, name) for name in ("title", "url", "heading", "page")},
    }


def flagged_texts(passages: Collection[int]) -> list[str]:
    """Return the texts of those passages that are still there and were flagged when they were indexed."""
    statement = "SELECT text FROM knowledge_passage WHERE id = ANY(%s) AND flags <> '{}'"
    return [text for (text,) in fetch_all(statement, [list(passages)])]


@dataclass(frozen=True, slots=True)
class Unfinished:
    """An answer that is being written, or whose process died."""

    reply_id: int
    has_just_begun: bool


def unfinished_answer(visitor: UUID, conversation: UUID) -> Unfinished | None:
    """Return the answer that is being written there."""
    running = Message.objects.filter(
        conversation_id=conversation, conversation__visitor_id=visitor, status=Message.Status.GENERATING
    )
    found = running.values_list("pk", "created_at").first()
    # A clock that was set back leaves times that are yet to come.
    return Unfinished(found[0], abs(timezone.now() - found[1]) < JUST_BEGUN) if found else None


def give_up(reply_id: int, text: str, office: OfficeWords | None = None) -> None:
    """Save what is known of an answer whose process died; `office` is the answer with which the text begins."""
    _mark_need(reply_id, _need_of_question(reply_id))
    Message.objects.filter(pk=reply_id, status=Message.Status.GENERATING).update(
        status=Message.Status.FAILED,
        text=text,
        office=asdict(office) if office else None,
        reason="interrupted",
        finished_at=timezone.now(),
    )


def _need_of_question(reply_id: int) -> str:
    """Return the need that an answer's question speaks of, if its answer ended before anybody had recognised it."""
    question = Message.objects.filter(answer=reply_id).select_related("conversation__assistant").first()
    if question is None:
        return ""
    assistant = question.conversation.assistant
    return recognised_need(question.text, load_own_needs(assistant) if assistant else NO_EXAMPLES) or ""


def _mark_need(reply_id: int, route: str) -> None:
    """Mark a cry for help on both rows, while its answer is not finished: no list of staff's has seen it by then."""
    if route in Message.HELP_ROUTES:
        Message.objects.filter(Q(pk=reply_id) | Q(answer=reply_id)).update(route=route)
