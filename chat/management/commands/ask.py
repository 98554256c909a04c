import asyncio
import json
from argparse import ArgumentParser
from contextlib import aclosing
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from chat.answering import Ask, answer
from chat.events import Abstain, Delta, End, Error, Replace, Sources
from chat.guard import Refused, clean_question
from chat.profiles import PROFILES
from chat.services import contact_of, default_assistant
from knowledge.retrieval.hybrid import UnknownCollection, scope_of


class Command(BaseCommand):
    help = "Answers one question as the chat would, without storing it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("question", metavar="QUESTION")
        parser.add_argument("--history", type=Path, metavar="FILE", help='JSON: [{"role": "user", "text": "…"}, …]')
        parser.add_argument("--profile", default="default", choices=sorted(PROFILES), help="(default: %(default)s)")
        parser.add_argument(
            "--collection", action="append", default=[], metavar="SLUG", help="answer from this one; may be repeated"
        )
        parser.add_argument("--language", default="en", choices=["en", "de"], help="of the bot's own sentences")
        parser.add_argument("--json", action="store_true", help="one JSON document and nothing else")

    def handle(self, *, question: str, profile: str, collection: list[str], **options: Any) -> None:
        try:
            scope_of(collection)
            text = clean_question(question, limit=settings.QUESTION_MAX_CHARACTERS)
        except UnknownCollection as error:
            raise CommandError(str(error)) from error
        except Refused as error:
            raise CommandError(error.detail) from error
        assistant = default_assistant()
        ask = Ask(
            text=text,
            language=options["language"],
            history=read_history(options["history"]),
            collections=collection,
            profile=profile,
            institution=assistant.institution if assistant else "the university",
            contact=contact_of(assistant),
        )
        result = asyncio.run(collect(ask))
        if options["json"]:
            self.stdout.write(json.dumps(result, ensure_ascii=False, indent=1))
            return
        self.stdout.write(result["answer"])
        for source in result["citations"]:
            self.stdout.write(f"  [{source['n']}] {source['title']} › {source['heading']}\n      {source['url']}")


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


async def collect(ask: Ask) -> dict[str, Any]:
    """All events of an answer as one result."""
    text, result = "", {"abstained": False, "strategy": "", "rewritten": None, "citations": [], "timings_ms": {}}
    async with aclosing(answer(ask)) as events:
        async for event in events:
            match event:
                case Delta():
                    text += event.text
                case Replace():
                    text = event.text
                case Abstain():
                    text, result["abstained"], result["reason"] = event.text, True, event.reason
                case Sources():
                    names = ("n", "title", "url", "heading", "page", "quote")
                    result["citations"] = [{name: asdict(source)[name] for name in names} for source in event.sources]
                case Error():
                    result["error"] = event.code
                case End():
                    timings = event.timings_ms or {}
                    result["strategy"], result["evidence"] = event.strategy, event.evidence
                    result["timings_ms"] = {name: round(value, 2) for name, value in timings.items()}
    return {"answer": text, **result}
