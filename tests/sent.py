"""What a browser sends of a form on a page, touched or not, and the button that Enter presses."""

from typing import Any

from django.http import HttpResponse
from lxml import html


def form_on(page: HttpResponse, form_id: str) -> Any:
    return html.fromstring(page.content.decode()).get_element_by_id(form_id)


def as_sent(page: HttpResponse, form_id: str, **changes: Any) -> dict[str, Any]:
    """Return the values of a form as it is shown, with what somebody types into it."""
    values = {name: value or "" for name, value in form_on(page, form_id).form_values() if "__prefix__" not in name}
    return values | changes


def pressed_by_enter(page: HttpResponse, form_id: str) -> str:
    """Return the name of its first button."""
    button: str = form_on(page, form_id).xpath(".//button[@type='submit'] | .//input[@type='submit']")[0].get("name")
    return button


def preset_on(page: HttpResponse) -> dict[str, str]:
    """Return the two versions that a page of versions compares unless somebody chooses others."""
    return {name: _choice(page, name).value for name in ("old", "new")}


def labels_on(page: HttpResponse, name: str) -> list[str]:
    """Return what a choice offers."""
    return [" ".join(option.text_content().split()) for option in _choice(page, name).iter("option")]


def _choice(page: HttpResponse, name: str) -> Any:
    return html.fromstring(page.content.decode()).xpath("//select[@name=$name]", name=name)[0]
