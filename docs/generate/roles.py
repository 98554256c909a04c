"""The page of the roles, from the table that the groups are made of."""

from django.apps import apps

from docs.generate.tables import cell, table
from marcelcms.accounts.roles import ADMINISTERED, ROLES

INTRODUCTION = """# Roles

A role says what somebody may do. Roles are groups, made when the tables are made; tick them on a person's page in the
admin. Teams are groups too, and say to which rows: a collection or an assistant names its teams. Somebody without a
team and without the group “Whole university” sees no rows at all.

This page is made from `marcelcms/accounts/roles.py`. An administrator may give a role more; what they gave it stays
after an upgrade. The role “Administrator” may do everything with the tables of {apps}.
Making somebody a superuser is for superusers alone.
"""
WORDS = {"view": "see", "add": "add", "change": "change", "delete": "delete"}


def page() -> str:
    roles = list(ROLES)
    models = list(dict.fromkeys(model for rights in ROLES.values() for model in rights))
    rows = [[_name(model), *(_rights(ROLES[role].get(model, ())) for role in roles)] for model in models]
    apps_named = ", ".join(f"`{app}`" for app in ADMINISTERED)
    return INTRODUCTION.format(apps=apps_named) + "\n" + table(["", *roles], rows)


def _name(model: str) -> str:
    return cell(apps.get_model(model)._meta.verbose_name_plural)


def _rights(actions: object) -> str:
    named = [str(each) for each in actions] if isinstance(actions, tuple | list) else []
    return ", ".join(WORDS.get(each, each.removeprefix(".").replace("_", " ")) for each in named)
