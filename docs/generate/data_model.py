"""The page of the data model: what each table holds, from the Django models themselves."""

import inspect

from django.apps import apps
from django.db import models

from docs.generate.tables import anchor, cell, code, table

APPS = {
    "knowledge": "What the assistant knows: pages, PDFs and courses, how they were fetched, and how they are indexed.",
    "faqs": "What staff wrote down: questions, other ways to ask them, and the documents that answer them.",
    "chat": "What students meet: assistants, the sites they stand on, and conversations.",
    "analytics": "What staff learn from it: figures by day, gaps, reviews, tests, evaluations, reports.",
    "marcelcms": "What belongs to no app.",
}
INTRODUCTION = """# Data model

This page is made from the models. Apps stand in one line, `marcelcms -> analytics -> chat -> faqs -> knowledge`, and
a table refers only to tables of its own app or of one further right. All of it lies in PostgreSQL; files that staff
upload lie below `STATE_DIR/media`. Staff's accounts, groups and the audit log are Django's own tables (`auth_user`,
`auth_group`, `django_admin_log`), and so is the schedule (`django_celery_beat_*`).

Valkey holds nothing that cannot be lost: jobs that wait, the events of the last hour, counters of limits, and signs
of life.
"""


def page() -> str:
    parts = [INTRODUCTION]
    for label, said in APPS.items():
        rows = [model for model in apps.get_app_config(label).get_models() if not model._meta.proxy]
        if not rows:
            continue
        parts += [f"## {label}\n", f"{said}\n", _relations(rows)]
        parts += [_model(model) for model in rows]
    return "\n".join(parts)


def _relations(rows: list[type[models.Model]]) -> str:
    """Return the tables by those that they refer to."""
    lines = []
    for model in rows:
        named = [_named(field.related_model) for field in model._meta.get_fields() if _leads_out(field)]
        lines.append([f"[{model.__name__}](#{anchor(model.__name__)})", ", ".join(dict.fromkeys(named)) or "–"])
    return table(["table", "refers to"], lines)


def _leads_out(field: object) -> bool:
    return isinstance(field, models.ForeignKey | models.ManyToManyField)


def _named(model: object) -> str:
    if not (isinstance(model, type) and issubclass(model, models.Model)):
        return ""
    is_ours = model._meta.app_label in APPS
    return f"[{model.__name__}](#{anchor(model.__name__)})" if is_ours else code(model._meta.label)


def _model(model: type[models.Model]) -> str:
    said = inspect.getdoc(model) or ""
    own = "" if said.startswith(f"{model.__name__}(") else said  # Django's own, which only lists the fields
    rows = [_field(field) for field in (*model._meta.fields, *model._meta.many_to_many)]
    parts = [f"### {model.__name__}\n", f"{code(model._meta.db_table)}. {cell(own)}\n"]
    parts.append(table(["column", "type", "may be empty", "meaning"], rows))
    if names := [code(each.name) for each in model._meta.constraints]:
        parts.append(f"Rules that the database keeps: {', '.join(names)}.\n")
    return "\n".join(parts)


def _field(field: "models.Field[object, object]") -> list[str]:
    kind = field.get_internal_type()
    if _leads_out(field):
        kind = f"{kind} → {_named(field.related_model)}"
    is_named_so = str(field.verbose_name).lower() == field.name.replace("_", " ")
    meaning = [] if is_named_so else [str(field.verbose_name)]
    if field.help_text:
        meaning.append(str(field.help_text))
    if field.choices:
        meaning.append(", ".join(f"{value}: {label}" for value, label in field.flatchoices if value != ""))
    name = field.column if isinstance(field, models.ForeignKey) else field.name
    is_free = (field.null or field.blank) and not field.primary_key
    return [code(name), kind, "yes" if is_free else "", cell(". ".join(meaning))]
