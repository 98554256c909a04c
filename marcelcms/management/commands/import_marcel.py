from argparse import ArgumentParser
from contextlib import closing
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from chat.conversations.marcel_import import Database, ImportReport, NotMarcel, import_conversations
from chat.models import Assistant
from core.management import progress_bar

#: Problems that are named one by one.
NAMED = 20


class Command(BaseCommand):
    help = (
        "Takes over what a Marcel has: its knowledge file, its FAQs, and the conversations of people who agreed. "
        "Running it twice adds nothing twice."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--knowledge", type=Path, metavar="FILE.jsonl", help="Marcel's knowledgebase.jsonl")
        parser.add_argument("--collection", default="default", metavar="SLUG", help="where its pages go (default)")
        parser.add_argument("--faqs", type=Path, metavar="FILE.json", help="Marcel's faq.json")
        parser.add_argument(
            "--conversations", metavar="DATABASE", help="a file of SQLite's, or mysql://user:password@host/name"
        )
        parser.add_argument("--assistant", metavar="SLUG", help="whose the conversations become (the first assistant)")
        parser.add_argument("--dry-run", action="store_true", help="only say what would become of the conversations")

    def handle(self, *, knowledge: Path | None, faqs: Path | None, conversations: str | None, **options: Any) -> None:
        if not (knowledge or faqs or conversations):
            raise CommandError("Say what to take over: --knowledge, --faqs, --conversations, or several of them.")
        if options["dry_run"] and (knowledge or faqs):
            raise CommandError("--dry-run is for conversations; leave --knowledge and --faqs out.")
        if knowledge:
            call_command("import_documents", knowledge, collection=options["collection"], stdout=self.stdout)
        if faqs:
            call_command("import_faqs", faqs, stdout=self.stdout)
        if conversations:
            self._take_over(conversations, options["assistant"], keep=not options["dry_run"])

    def _take_over(self, place: str, slug: str | None, *, keep: bool) -> None:
        chosen = Assistant.objects.filter(slug=slug) if slug else Assistant.objects.order_by("pk")
        assistant = chosen.first()
        if assistant is None:
            missing = f"no assistant {slug!r}" if slug else "no assistant yet"
            raise CommandError(f"There is {missing}: make it first, in admin.")
        try:
            with closing(Database(place)) as database, progress_bar("Conversations") as show:
                report = import_conversations(database, assistant, keep=keep, progress=show)
        except NotMarcel as error:
            raise CommandError(f"--conversations: {error}.") from error
        self._say(report, assistant, keep=keep)

    def _say(self, report: ImportReport, assistant: Assistant, *, keep: bool) -> None:
        for conversation, problem in report.problems[:NAMED]:
            self.stderr.write(f"Conversation {conversation}: {problem}.")
        if more := len(report.problems[NAMED:]):
            self.stderr.write(f"… and {more} more of such problems.")
        did = "Taken over for" if keep else "Would be taken over for"
        self.stdout.write(f"{did} {assistant}: {report.conversations} conversations, {report.messages} messages.")
        for why, count in sorted(report.skipped.items()):
            self.stdout.write(f"Left out, {why}: {count}.")
