"""MkDocs' way in: pages that are made from the code when the site is built, so that they say what the code does."""

import os

import django
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "marcelcms.settings")
django.setup()

from docs.generate import commands, data_model, decisions, protocol, reports, rest, roles, variables  # noqa: E402

#: By address below `docs/`: what makes the page.
PAGES = {
    "reference/settings.md": variables.page,
    "reference/commands.md": commands.page,
    "reference/roles.md": roles.page,
    "reference/data-model.md": data_model.page,
    "reference/wire-protocol.md": protocol.page,
    "reference/public-api.md": rest.public_page,
    "reference/staff-api.md": rest.staff_page,
    "reference/reports.md": reports.page,
    "decisions/index.md": decisions.page,
}


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    for address, make in PAGES.items():
        files.append(File.generated(config, address, content=make()))
    return files
