"""Contrast of colours as WCAG 2.2 defines it; pure."""

import re

HEX = re.compile(r"#[0-9a-f]{6}", re.IGNORECASE)


def luminance(colour: str) -> float:
    """Relative luminance of #rrggbb, from 0 (black) to 1 (white)."""
    channels = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """From 1 (none) to 21 (black on white)."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)
