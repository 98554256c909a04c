"""Differences between a sentence and its unit: numbers to be weighed, and doubts to be read by staff; pure."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class Differences:
    """Features by name, and the kinds of doubt with the words that raise them."""

    features: dict[str, float] = field(default_factory=dict)
    doubts: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, value: float) -> None:
        self.features[name] = float(value)

    def doubt(self, kind: str, text: str) -> None:
        self.doubts.setdefault(kind, text)
