import asyncio
import json
from argparse import ArgumentParser
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from chat.errors import Refused
from chat.models.assistants import default_assistant
from chat.pipeline.guardrails.input import clean_question
from chat.pipeline.question import build_question
from chat.pipeline.reply import Reply
from chat.pipeline.retrieval.profiles import UnknownProfile, get_profile
from chat.pipeline.run import collect
from chat.protocol.shapes import Source
from knowledge.retrieval.scope import UnknownCollection, build_scope

#: What the contract tells of a citation.
CITATION = ("n", "title", "url", "heading", "page", "quote")


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
            build_scope(collection)
            chosen = get_profile(profile) if profile else None
            text = clean_question(question, limit=settings.QUESTION_MAX_CHARACTERS)
        except (UnknownCollection, UnknownProfile) as error:
            raise CommandError(str(error)) from error
        except Refused as error:
            raise CommandError(error.detail) from error
        ask = build_question(default_assistant(), text, options["language"])
        ask = replace(ask, history=read_history(options["history"]), profile=chosen or ask.profile)
        if collection:
            ask = replace(ask, collections=collection)
        reply = asyncio.run(collect(ask))
        if options["json"]:
            self.stdout.write(json.dumps(as_json(reply), ensure_ascii=False, indent=1))
            return
        self.stdout.write(reply.text)
        for line in (*reply.choices, *reply.related):
            self.stdout.write(f"  - {line}")
        for source, _document in reply.sources:
            where = " › ".join(filter(None, (source.title, source.heading)))
            self.stdout.write(f"  [{source.n}] {where}\n      {source.url}")


def read_history(path: Path | None) -> tuple[tuple[str, str], ...]:
    """(role, text) of each message; a model's server calls its text `content`, which will do. Raises CommandError."""
    if path is None:
        return ()
    form = f'{path} must hold a JSON list such as [{{"role": "user", "text": "…"}}].'
    try:
        turns = json.loads(path.read_text("utf-8"))
        return tuple((str(turn["role"]), str(turn["text"] if "text" in turn else turn["content"])) for turn in turns)
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, TypeError, KeyError) as error:
        raise CommandError(form) from error


def as_citation(source: Source) -> dict[str, Any]:
    """Return what the contract tells of a citation, its edition if it has one, and whether it was read by OCR."""
    told = {name: getattr(source, name) for name in CITATION}
    further = {"edition": source.edition, "read_by_ocr": source.read_by_ocr}
    return told | {name: value for name, value in further.items() if value}


def as_json(reply: Reply) -> dict[str, Any]:
    """Return the document that `manage.py ask --json` prints."""
    end = reply.end
    return {
        "answer": reply.text,
        "abstained": bool(reply.reason),
        "reason": reply.reason,
        "strategy": end.strategy if end else "",
        "route": end.route if end else "",
        "rewritten": (end and end.rewritten) or None,
        "choices": list(reply.choices),
        "related": list(reply.related),
        "citations": [as_citation(source) for source, _document in reply.sources],
        "links": [asdict(link) for source, _document in reply.sources for link in source.links],
        "evidence": end.evidence if end else None,
        "error": reply.error,
        "timings_ms": {name: round(value, 2) for name, value in ((end and end.timings_ms) or {}).items()},
    }
