"""Marcel's conversations into ours: those of people who agreed, and that they did not hide."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from uuid import UUID

from django.db import transaction
from django.utils.crypto import salted_hmac

from chat.marcel import BATCH, Database, Said, Talk
from chat.models import Assistant, Citation, Conversation, Feedback, Message, Visitor
from chat.wording import title_of
from knowledge.languages import language_of
from knowledge.models import Document
from knowledge.storable import storable


@dataclass(slots=True)
class ImportReport:
    """What an import did; `problems` are (conversation, what was wrong with a part of it)."""

    conversations: int = 0
    messages: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    problems: list[tuple[UUID, str]] = field(default_factory=list)


def import_conversations(
    database: Database,
    assistant: Assistant,
    *,
    keep: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> ImportReport:
    """Adds the conversations that are not there yet, a batch in a transaction: one that was stopped is begun again.

    A conversation keeps its id. Whoever talked gets a number made of Marcel's with this server's secret: the same
    person the next time, and nobody can be traced back. `keep=False` only says what it would do.
    """
    report, total = ImportReport(), database.count()
    talks, done = database.conversations(), 0
    while batch := list(islice(talks, BATCH)):
        with transaction.atomic():
            _add(batch, assistant, report)
            if not keep:
                transaction.set_rollback(True)
        done += len(batch)
        if progress:
            progress(done, total)
    return report


def visitor_of(who: str) -> UUID:
    return UUID(salted_hmac("chat.importing", who, algorithm="sha256").hexdigest()[:32])


def _add(batch: Sequence[Talk], assistant: Assistant, report: ImportReport) -> None:
    there = set(Conversation.objects.filter(pk__in=[talk.id for talk in batch]).values_list("pk", flat=True))
    wanted = []
    for talk in batch:
        if talk.id in there:
            report.skipped["there already"] += 1
        elif talk.agreed_at is None:
            report.skipped["of people who never agreed"] += 1
        elif talk.is_hidden:
            report.skipped["hidden by who asked"] += 1
        elif not talk.messages:
            report.skipped["empty"] += 1
        else:
            wanted.append(talk)
    agreed = {visitor_of(talk.who): talk.agreed_at for talk in wanted}
    new = set(agreed) - set(Visitor.objects.filter(pk__in=agreed).values_list("pk", flat=True))
    Visitor.objects.bulk_create(Visitor(pk=pk) for pk in new)
    for pk in new:
        Visitor.objects.filter(pk=pk).update(consented_at=agreed[pk])
    urls = {url for talk in wanted for said in talk.messages for _title, url in said.sources}
    documents = dict(Document.objects.of_university().filter(url__in=urls).values_list("url", "pk"))
    for talk in wanted:
        _add_one(talk, assistant, documents, report)


def _add_one(talk: Talk, assistant: Assistant, documents: dict[str, int], report: ImportReport) -> None:
    rating = talk.rating
    if rating is not None and not 1 <= rating <= 5:
        report.problems.append((talk.id, f"its rating {rating} is none of 1 to 5 and is left out"))
        rating = None
    first = next((said.text for said in talk.messages if said.role == "user"), "")
    conversation = Conversation.objects.create(
        pk=talk.id, visitor_id=visitor_of(talk.who), assistant=assistant, title=title_of(storable(first)), stars=rating
    )
    for question, answer in pairs(talk.messages, talk.id, report):
        asked = _save(question, conversation, Message.Role.USER)
        replied = _save(answer, conversation, Message.Role.ASSISTANT, asked) if answer else None
        if answer is None or replied is None:
            Message.objects.create(
                conversation=conversation,
                role=Message.Role.ASSISTANT,
                question=asked,
                status=Message.Status.FAILED,
                reason="interrupted",
            )
            Message.objects.filter(question=asked).update(created_at=question.at, finished_at=question.at)
            continue
        if answer.thumbs:
            Feedback.objects.create(message=replied, value=answer.thumbs)
        # Marcel shows what was retrieved also where it did not know.
        cited = () if answer.abstained else answer.sources
        Citation.objects.bulk_create(
            Citation(message=replied, n=n, title=title or url, url=url, document_id=documents.get(url))
            for n, (title, url) in enumerate(cited, start=1)
        )
    Conversation.objects.filter(pk=talk.id).update(created_at=talk.began_at, updated_at=talk.last_at)
    report.conversations += 1
    report.messages += len(talk.messages)


def pairs(messages: Sequence[Said], talk: UUID, report: ImportReport) -> Iterator[tuple[Said, Said | None]]:
    """Each question with its answer; a question that never got one has None."""
    waiting: Said | None = None
    for said in messages:
        if said.role == "user":
            if waiting:
                yield waiting, None
            waiting = said
        elif waiting:
            yield waiting, said
            waiting = None
        else:
            report.problems.append((talk, f"message {said.id} answers no question and is left out"))
    if waiting:
        yield waiting, None


def _save(said: Said, conversation: Conversation, role: str, question: Message | None = None) -> Message:
    status = Message.Status.COMPLETE
    if question:
        status = Message.Status.STOPPED if said.stopped else status
        status = Message.Status.ABSTAINED if said.abstained else status
    text = storable(said.text)
    row = Message.objects.create(
        conversation=conversation,
        role=role,
        question=question,
        text=text,
        status=status,
        strategy=Message.Strategy.GENERATED if question else Message.Strategy.NONE,
        language=language_of(text) or "en",
        timings_ms={"total": round(said.seconds * 1000, 1)} if question and said.seconds else {},
    )
    Message.objects.filter(pk=row.pk).update(created_at=said.at, finished_at=said.at if question else None)
    return row
