"""Sections of the admin's first page: open tasks that this member of staff may see and act on, in few queries."""

from typing import TYPE_CHECKING

from django.contrib.auth.models import Group
from django.utils.translation import gettext as _

from analytics.inbox.colleagues import may_work
from chat.models import Assistant
from core.access import sees_everything
from marcelcms.admin_index.content import pending_content
from marcelcms.admin_index.jobs import failed_jobs, silent_workers
from marcelcms.admin_index.pending import count_pending
from marcelcms.admin_index.questions import (
    Section,
    ended_experiments,
    gaps_section,
    list_reviews,
    list_rises,
    list_told,
    own_topics,
    sampled_answers,
    waiting_cases,
    watched_topics,
)

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def sections_for(user: "User") -> list[Section]:
    """Return the sections with open tasks, what students ran into first."""
    counted = {
        "cases": list(waiting_cases(user)),
        "own": list(own_topics(user)),
        "watched": list(watched_topics(user)),
        "experiments": list(ended_experiments(user)),
        "sampled": list(sampled_answers(user)),
        "content": list(pending_content(user)),
        "jobs": list(failed_jobs(user)),
    }
    items = count_pending(counted, user)
    assigned, commented = list_told(user)
    found = [
        Section(_("Assigned to you"), assigned),
        Section(_("Comments of colleagues"), commented),
        Section(_("Questions to the office"), items["cases"]),
        Section(_("Answers to review"), [*list_reviews(user), *list_rises(user), *items["sampled"]]),
        Section(_("Experiments"), items["experiments"]),
        gaps_section(user, [*items["own"], *items["watched"]]),
        Section(_("FAQs, pages and websites"), items["content"]),
        Section(_("Jobs in the background"), [*silent_workers(), *items["jobs"]]),
    ]
    return [section for section in found if section.items]


def sees_no_questions(user: "User") -> bool:
    """Return whether the user works on students' questions, but their teams look after no assistant."""
    return may_work(user) and not Assistant.objects.visible_to(user).exists()


def looks_after_nothing(user: "User") -> bool:
    """Return whether the user's teams are responsible for nothing: they see no row, and the page says why."""
    teams = Group.objects.filter(user=user).exclude(collections=None, assistants=None)
    return not sees_everything(user) and not teams.exists()
