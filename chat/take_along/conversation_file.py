"""A conversation as one HTML file, to keep or to print; nothing in it runs or is loaded."""

from collections.abc import Sequence
from typing import Any

from django.template.loader import render_to_string
from django.utils.dateparse import parse_datetime

from knowledge.rendering import is_safe_link, render_markdown


def write_conversation(title: str, messages: Sequence[dict[str, Any]], *, assistant: str) -> str:
    """Return the file; `messages` are those that the widget shows."""
    turns = [_turn(message) for message in messages if message["status"] != "generating"]
    return render_to_string("chat/conversation_file.html", {"title": title, "assistant": assistant, "turns": turns})


def _turn(message: dict[str, Any]) -> dict[str, Any]:
    office = message["office"]
    return {
        "is_question": message["role"] == "user",
        "at": parse_datetime(message["created_at"]),
        "text": message["text"],
        "html": render_markdown(message["text"], breaks=True),
        "office": office and {**office, "html": render_markdown(office["text"], breaks=True)},
        "help": message["help"],
        "sources": [
            {**source, "url": source["url"] if is_safe_link(source["url"]) else ""} for source in message["sources"]
        ],
        "source_type": _source_type(message),
    }


def _source_type(message: dict[str, Any]) -> str:
    """Return the mark of what a machine made (EU AI Act, article 50 (2)), as the IPTC names it and the widget does."""
    if not message["machine_made"]:
        return ""
    return "algorithmicMedia" if message["strategy"] == "extractive" else "trainedAlgorithmicMedia"
