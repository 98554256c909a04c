"""The product's settings, with the app that the later version has."""

from marcelcms.settings import *  # noqa: F403
from marcelcms.settings import INSTALLED_APPS as BEFORE

INSTALLED_APPS = [*BEFORE, "tests.faults.next_version"]
