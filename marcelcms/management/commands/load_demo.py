import datetime
import email
import json
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import transaction

from analytics.evaluation.datasets import load_questions
from chat.models import Assistant, Office, OfficeHours, OfficeRule, Site
from chat.models.validators import browser_origin
from core.inference.embeddings.known import with_known
from core.management import progress_bar
from faqs.importexport.files import read_table
from faqs.importexport.resource import FAQResource
from faqs.indexing import sync_generation as sync_faqs
from faqs.services import import_table
from knowledge.courses.reader import read_courses
from knowledge.courses.sync import import_courses
from knowledge.indexing.documents import sync_generation as sync_documents
from knowledge.indexing.generations import live_generation, load_embedder
from knowledge.ingest.importer import collection_for, document_record, import_records
from knowledge.models import Collection

DEMO = Path(__file__).resolve().parents[2] / "demo"
#: Vectors of its pages and FAQs; `manage.py demo_vectors` writes them.
VECTORS = DEMO / "vectors.npz"
#: The first and the last day on which the demo's offices are closed, as its pages say.
CLOSED = datetime.date(2026, 12, 24), datetime.date(2027, 1, 1)


class Command(BaseCommand):
    help = "Loads the demo university and its assistant. It is loaded once; later edits are left alone."

    def handle(self, **options: Any) -> None:
        if Collection.objects.exists():
            self.stdout.write("The demo is left as it is: there are collections already.")
        else:
            self.load()
        generation = live_generation()
        embedder = with_known(load_embedder(generation), VECTORS)
        for label, sync in (("Indexing pages", sync_documents), ("Indexing FAQs", sync_faqs)):
            with progress_bar(label) as show:
                count = sync(generation, embedder=embedder, progress=show)
            if count:
                self.stdout.write(f"{label}: {count} done.")

    @transaction.atomic
    def load(self) -> None:
        pages = [email.message_from_string(path.read_text("utf-8")) for path in sorted((DEMO / "pages").glob("*.md"))]
        records = [
            document_record(
                {
                    "url": page["URL"],
                    "title": page["Title"],
                    "language": page["Language"],
                    "text": str(page.get_payload()),
                }
            )
            for page in pages
        ]
        collection = collection_for("lindental")
        report = import_records(enumerate(records, start=1), collection=collection)
        courses = import_courses(read_courses(DEMO / "courses.json").records, collection=collection)
        faq_table = read_table("faqs.json", (DEMO / "faqs.json").read_bytes())
        faqs = import_table(table=faq_table, resource=FAQResource.for_operator())
        load_questions(DEMO / "questions.jsonl", collection)
        assistant, made = Assistant.objects.get_or_create(
            slug="lindental",
            defaults={
                "name": "Lindi",
                "institution": "University of Lindental",
                "welcome": "Ask me about applying, deadlines, fees, housing, exams and courses at the University of "
                "Lindental. I answer from its own pages and show you where it stands.",
                "welcome_de": "Fragen Sie nach Bewerbung, Fristen, Gebühren, Wohnen, Prüfungen und Modulen an der "
                "Universität Lindental. Die Antworten stammen von ihren eigenen Seiten, mit Angabe der Stelle.",
                "suggestions": "When is the application deadline for the M.Sc. Data Science?\n"
                "How much is the semester contribution?\nWhich English score do I need for the M.Sc. Data Science?\n"
                "How much is a room in a student dormitory?",
                "suggestions_de": "Wie hoch ist der Semesterbeitrag?\n"
                "Kann ich in Teilzeit studieren?\nWann und wo melde ich mich zu Prüfungen an?\n"
                "Wann sollte ich den BAföG-Antrag stellen?",
                "contact_name": "Student Service Centre",
                "contact_email": "students@uni-lindental.example",
                "contact_url": "https://www.uni-lindental.example/en/contact",
            },
        )
        if made:
            add_offices(assistant)
        # Its test page stands on the other of this machine's two names.
        origin = browser_origin(settings.PUBLIC_URL)
        names = {origin, origin.replace("127.0.0.1", "localhost"), origin.replace("localhost", "127.0.0.1")}
        Site.objects.get_or_create(
            is_default=True,
            defaults={
                "name": "University of Lindental",
                "assistant": assistant,
                "allowed_origins": sorted(names),
                "greeting": "Questions about studying? I am a bot and know where it stands.",
                "greeting_de": "Fragen zum Studium? Ich bin ein Bot und weiß, wo es steht.",
            },
        )
        self.stdout.write(f"Demo university: {report.created} pages, {courses.created} courses, {len(faqs)} FAQs.")


def add_offices(assistant: Assistant) -> None:
    """Add the offices that students of the demo can leave a question with."""
    first, last = CLOSED
    closed = [first + datetime.timedelta(days=number) for number in range((last - first).days + 1)]
    for row in json.loads((DEMO / "offices.json").read_text("utf-8")):
        values = {name: row[name] for name in ("name", "name_de", "reply_days", "is_default")}
        office = Office.objects.create(assistant=assistant, closed_on=closed, **values)
        OfficeHours.objects.bulk_create(
            OfficeHours(office=office, weekday=weekday, opens=opens, closes=closes)
            for weekday, opens, closes in row["hours"]
        )
        OfficeRule.objects.bulk_create(OfficeRule(office=office, page=page) for page in row["pages"])
