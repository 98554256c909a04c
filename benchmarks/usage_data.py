"""Conversations as a university has them, made up: busy weekdays and evenings, two languages, sites, ratings, sources.

They are copied into the tables, so that a million messages take minutes; the database's triggers note what days they
are of, as for any others.
"""

import datetime
import json
import random
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import connection, models, transaction
from django.utils import timezone

from chat.models import Assistant, Citation, Conversation, Feedback, Message, Site, Visitor
from faqs.models import FAQ
from knowledge.models import Collection, Document

#: Questions by local hour, Monday to Sunday, and by month: the semesters' beginnings and exams are busy.
HOURS = (4, 2, 1, 1, 1, 2, 6, 20, 45, 70, 80, 78, 65, 72, 76, 70, 60, 48, 42, 45, 50, 42, 26, 12)
WEEKDAYS = (100, 104, 98, 92, 76, 34, 40)
MONTHS = (80, 75, 70, 105, 85, 70, 75, 55, 80, 130, 90, 60)
#: Status and reason of answers, and how often.
ENDS = (
    ("complete", "", 86),
    ("abstained", "no_evidence", 8),
    ("stopped", "", 2),
    ("failed", "", 1),
    ("clarifying", "", 3),
)
LANGUAGES = (("de", 70), ("en", 30))
LENGTHS = (1, 1, 1, 2, 2, 3, 4, 6)
RATED, LIKED, STARRED, RETURNING, STEERED = 0.09, 0.7, 0.05, 0.3, 0.35
#: Messages that are copied at once: each statement notes all the days that it touches.
BLOCK = 250_000


@dataclass(frozen=True, slots=True)
class University:
    """Topics of conversations, and the sites where they are held."""

    assistants: Sequence[Assistant]
    sites: Mapping[int, Sequence[Site]]
    documents: Sequence[int]
    faqs: Sequence[int]


def make_university(*, assistants: int = 2, sites: int = 2, documents: int = 300, faqs: int = 150) -> University:
    """`sites` are of each assistant."""
    collection = Collection.objects.create(slug="usage", name="Pages")
    made = [
        Assistant.objects.create(slug=f"usage-{number}", name=f"Assistant {number + 1}", institution="a university")
        for number in range(assistants)
    ]
    on = {
        each.pk: [Site.objects.create(name=f"Site {number + 1}", assistant=each) for number in range(sites)]
        for each in made
    }
    pages = [
        Document(
            collection=collection,
            url=f"https://www.uni.example/usage/{number}",
            title=f"Page {number + 1} of the student office",
            text="Text.",
            status="published",
        )
        for number in range(documents)
    ]
    questions = [FAQ(question=f"What about matter {number + 1}?", status="published") for number in range(faqs)]
    return University(
        made,
        on,
        [page.pk for page in Document.objects.bulk_create(pages)],
        [faq.pk for faq in FAQ.objects.bulk_create(questions)],
    )


@transaction.atomic
def add_usage(at: University, *, messages: int, first: datetime.date, last: datetime.date, seed: int = 1) -> None:
    """Questions and answers between two days, both included."""
    making = _Making(at, random.Random(seed), first, last)
    while making.made < messages:
        making.fill(min(BLOCK, messages - making.made))
        making.copy()
    making.advance_sequences()


class _Making:
    def __init__(self, at: University, chance: random.Random, first: datetime.date, last: datetime.date) -> None:
        self.at, self.chance = at, chance
        self.days = [first + datetime.timedelta(days=number) for number in range((last - first).days + 1)]
        self.weights = [WEEKDAYS[day.weekday()] * MONTHS[day.month - 1] for day in self.days]
        self.made = 0
        self.next = {model: _newest(model) + 1 for model in (Message, Citation, Feedback)}
        self.rows: dict[Any, list[dict[str, Any]]] = {
            model: [] for model in (Visitor, Conversation, Message, Citation, Feedback)
        }

    def fill(self, messages: int) -> None:
        zone = timezone.get_default_timezone()
        until = self.made + messages
        while self.made < until:
            day = self.chance.choices(self.days, self.weights)[0]
            time = datetime.time(self.chance.choices(range(24), HOURS)[0], self.chance.randrange(60))
            self._converse(datetime.datetime.combine(day, time, zone))

    def _converse(self, moment: datetime.datetime) -> None:
        chance = self.chance
        assistant = chance.choices(self.at.assistants, range(len(self.at.assistants), 0, -1))[0]
        conversation = uuid.UUID(int=chance.getrandbits(128), version=4)
        language = _drawn(chance, LANGUAGES)
        questions = chance.choice(LENGTHS)
        self.rows[Conversation].append(
            {
                "id": conversation,
                "visitor_id": self._visitor(moment),
                "assistant_id": assistant.pk,
                "site_id": chance.choice(self.at.sites[assistant.pk]).pk,
                "stars": chance.choice((1, 3, 4, 4, 5)) if chance.random() < STARRED else None,
                "created_at": moment,
                "updated_at": moment + datetime.timedelta(minutes=2 * questions),
            }
        )
        for number in range(questions):
            self._ask(conversation, language, moment + datetime.timedelta(minutes=2 * number))

    def _visitor(self, moment: datetime.datetime) -> uuid.UUID:
        """Bring visitors back in the same block; each agreed before the first of their conversations."""
        visitors = self.rows[Visitor]
        if visitors and self.chance.random() < RETURNING:
            back = self.chance.choice(visitors[-2_000:])
            back["consented_at"] = min(back["consented_at"], moment)
        else:
            back = {"id": uuid.UUID(int=self.chance.getrandbits(128), version=4), "consented_at": moment}
            visitors.append(back)
        who: uuid.UUID = back["id"]
        return who

    def _ask(self, conversation: uuid.UUID, language: str, moment: datetime.datetime) -> None:
        chance = self.chance
        question, answer = self._id(Message), self._id(Message)
        status, reason = _drawn(chance, [((status, reason), weight) for status, reason, weight in ENDS])
        first_token = chance.lognormvariate(6.6, 0.5)
        said = {"conversation_id": conversation, "language": language, "created_at": moment, "finished_at": moment}
        asked = {"id": question, "role": "user", "text": "How do I do this?", "client_id": uuid.uuid4()}
        steers = self.at.faqs and status == "complete" and chance.random() < STEERED
        answered = {
            "id": answer,
            "role": "assistant",
            "question_id": question,
            "text": "You do it like this.",
            "status": status,
            "reason": reason,
            "prompt_tokens": chance.randrange(900, 2_400),
            "answer_tokens": chance.randrange(40, 300),
            "timings_ms": {"first_token": first_token, "total": first_token * chance.uniform(2, 6)},
            "faq_id": _popular(chance, self.at.faqs) if steers else None,
        }
        self.rows[Message] += [said | asked, said | answered]
        self.made += 2
        if status == "complete":
            self._cite(answer)
        if chance.random() < RATED:
            self._rate(answer, moment)

    def _cite(self, answer: int) -> None:
        chosen = {_popular(self.chance, self.at.documents) for _ in range(self.chance.randrange(1, 4))}
        self.rows[Citation] += [
            {
                "id": self._id(Citation),
                "message_id": answer,
                "n": n,
                "document_id": document,
                "title": "A page",
                "url": "/",
            }
            for n, document in enumerate(sorted(chosen), start=1)
        ]

    def _rate(self, answer: int, moment: datetime.datetime) -> None:
        likes = self.chance.random() < LIKED
        reasons = [] if likes else self.chance.sample(Feedback.Reason.values, self.chance.randrange(0, 3))
        row = {"message_id": answer, "value": 1 if likes else -1, "reasons": reasons, "updated_at": moment}
        self.rows[Feedback].append({"id": self._id(Feedback)} | row)

    def _id(self, model: Any) -> int:
        self.next[model] += 1
        return self.next[model] - 1

    def copy(self) -> None:
        for model, rows in self.rows.items():
            _copy(model, rows)
            rows.clear()

    def advance_sequences(self) -> None:
        with connection.cursor() as cursor:
            for model, following in self.next.items():
                table = model._meta.db_table
                cursor.execute("SELECT setval(pg_get_serial_sequence(%s, 'id'), %s, false)", [table, following])


def _newest(model: Any) -> int:
    newest: int | None = model.objects.order_by().aggregate(newest=models.Max("pk"))["newest"]
    return newest or 0


def _drawn(chance: random.Random, weighted: Iterable[tuple[Any, int]]) -> Any:
    values, weights = zip(*weighted, strict=True)
    return chance.choices(values, weights)[0]


def _popular(chance: random.Random, ids: Sequence[int]) -> int:
    """Draw the first ones far more often than the last; the last tenth never."""
    return ids[int(len(ids) * 0.9 * chance.random() ** 3)]


def _copy(model: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    """Fill in what a row does not say: the field's default."""
    fields = model._meta.concrete_fields
    names = ", ".join(f'"{field.column}"' for field in fields)
    with connection.cursor() as cursor, cursor.copy(f"COPY {model._meta.db_table} ({names}) FROM STDIN") as copy:
        for row in rows:
            copy.write_row([_written(field, row) for field in fields])


def _written(field: Any, row: Mapping[str, Any]) -> Any:
    value = row[field.column] if field.column in row else None if field.null else field.get_default()
    if isinstance(field, models.JSONField) and value is not None:
        return json.dumps(value)
    if isinstance(field, ArrayField):
        return list(value or [])
    return value
