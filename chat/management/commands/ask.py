import asyncio
import json
from argparse import ArgumentParser
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from chat.answering import Ask
from chat.guard import Refused, clean_question
from chat.profiles import UnknownProfile, get_profile
from chat.replies import Reply, collect
from chat.services import contact_of, default_assistant, profile_for
from knowledge.retrieval.scoping import UnknownCollection, scope_of


class Command(BaseCommand):
    help = "Answers one question as the chat would, without storing it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("question", metavar="QUESTION")
        parser.add_argument("--history", type=Path, metavar="FILE", help='JSON: [{"role": "user", "text": "…"}, …]')
        parser.add_argument("--profile", default="", metavar="NAME", help="(default: the assistant's)")
        parser.add_argument(
            "--collection", action="append", default=[], metavar="SLUG", help="answer from this one; may be repeated"
        )
        parser.add_argument("--language", default="en", choices=["en", "de"], help="of the bot's own sentences")
        parser.add_argument("--json", action="store_true", help="one JSON document and nothing else")

    def handle(self, *, question: str, profile: str, collection: list[str], **options: Any) -> None:
        try:
            scope_of(collection)
            chosen = get_profile(profile) if profile else None
            text = clean_question(question, limit=settings.QUESTION_MAX_CHARACTERS)
        except (UnknownCollection, UnknownProfile) as error:
            raise CommandError(str(error)) from error
        except Refused as error:
            raise CommandError(error.detail) from error
        assistant = default_assistant()
        ask = Ask(
            text=text,
            language=options["language"],
            history=read_history(options["history"]),
            collections=collection,
            profile=chosen or profile_for(assistant),
            institution=assistant.institution if assistant else "the university",
            contact=contact_of(assistant),
        )
        reply = asyncio.run(collect(ask))
        if options["json"]:
            self.stdout.write(json.dumps(as_json(reply), ensure_ascii=False, indent=1))
            return
        self.stdout.write(reply.text)
        for source, _document in reply.sources:
            self.stdout.write(f"  [{source.n}] {source.title} › {source.heading}\n      {source.url}")


def read_history(path: Path | None) -> tuple[tuple[str, str], ...]:
    """Raises CommandError."""
    if path is None:
        return ()
    form = f'{path} must hold a JSON list such as [{{"role": "user", "text": "…"}}].'
    try:
        turns = json.loads(path.read_text("utf-8"))
        return tuple((str(turn["role"]), str(turn["text"])) for turn in turns)
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, TypeError, KeyError) as error:
        raise CommandError(form) from error


def as_json(reply: Reply) -> dict[str, Any]:
    """The contract of `manage.py ask --json`."""
    end = reply.end
    return {
        "answer": reply.text,
        "abstained": bool(reply.reason),
        "reason": reply.reason,
        "strategy": end.strategy if end else "",
        "rewritten": None,
        "citations": [asdict(source) for source, _document in reply.sources],
        "evidence": end.evidence if end else None,
        "error": reply.error,
        "timings_ms": {name: round(value, 2) for name, value in ((end and end.timings_ms) or {}).items()},
    }
