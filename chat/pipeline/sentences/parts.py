"""The parts of a question that asks for several things, English and German; pure."""

import re

#: What begins another part of a question.
PART = re.compile(
    r"(?:,|\?|\b(?:and|or|und|oder)\b)[\s,]+(?=(?:and |und )?(?:what|when|where|which|who|how|by when|until when"
    r"|is|are|do|does|can|should|must|was|wann|wo|welche\w*|wer|wie|bis wann|ist|kann|muss|darf)\b)",
    re.IGNORECASE,
)
#: A part of fewer words asks for nothing by itself.
SHORTEST_PART = 3


def split_question(question: str) -> list[str]:
    """Return the parts of a question that ask for several things, or the question alone."""
    parts = [words for part in PART.split(question) if (words := part.strip(" ,?"))]
    return parts if len(parts) > 1 and all(len(part.split()) >= SHORTEST_PART for part in parts) else [question]
