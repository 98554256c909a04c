"""Roles of staff and their permissions; the groups that stand for roles are made by a migration.

A role says what somebody may do. Which rows they may do it to is said by their teams, which are groups too
(`core.access`); the role WHOLE_UNIVERSITY lifts that limit.
"""

from collections.abc import Iterator, Mapping, Sequence

from django.apps import apps
from django.contrib.auth.management import create_permissions
from django.contrib.auth.models import Group, Permission, User
from django.db.models import Q
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

CURATOR = "Curator"
REVIEWER = "Reviewer"
ANALYST = "Analyst"
ADMINISTRATOR = "Administrator"
WHOLE_UNIVERSITY = "Whole university"

#: By role: what it is called on screens, and what it is for.
ROLE_TEXTS: Mapping[str, tuple[Promise, Promise]] = {
    CURATOR: (
        _("Curator"),
        _("Writes answers and FAQs, looks after pages and websites, works on topics and answers to review."),
    ),
    REVIEWER: (
        _("Reviewer"),
        _("Judges answers, comments topics and proposes FAQs, which a curator publishes."),
    ),
    ANALYST: (_("Analyst"), _("Reads the dashboard, exports reports and tries test questions.")),
    ADMINISTRATOR: (_("Administrator"), _("Does everything: accounts, assistants, pages with the chat, settings.")),
}
EVERYTHING = ("view", "add", "change", "delete")

#: By role: what may be done to which models, as `app.model: actions`; an action with a dot is a permission's own name.
ROLES: Mapping[str, Mapping[str, Sequence[str]]] = {
    CURATOR: {
        "knowledge.collection": ("view", "change"),
        "knowledge.abbreviation": EVERYTHING,
        "knowledge.document": EVERYTHING,
        "knowledge.course": EVERYTHING,
        "knowledge.editiongroup": ("view", "change"),
        "knowledge.flaggedtext": ("view", "change"),
        "knowledge.source": (*EVERYTHING, ".crawl_source"),
        "knowledge.crawlrun": ("view",),
        "faqs.category": ("view", "add", "change"),
        "faqs.faq": (*EVERYTHING, ".publish_faq"),
        "faqs.matcher": ("view", "change"),
        "chat.assistant": ("view", "change"),
        "chat.site": ("view",),
        "chat.conversation": ("view",),
        "chat.case": ("view", "change"),
        "chat.office": ("view",),
        "chat.heldbacksentence": ("view", "change"),
        "chat.experiment": ("view",),
        "chat.retrievalprofile": ("view",),
        "chat.promptversion": ("view",),
        "analytics.gap": ("view", "change"),
        "analytics.topic": ("view", "change"),
        "analytics.review": ("view", "change"),
        "analytics.sampledanswer": ("view", "change"),
        "analytics.shadowtest": ("view", "add"),
        "analytics.evaluationset": ("view",),
        "analytics.evaluationquestion": ("view", "add", "change"),
        "analytics.evaluationrun": ("view",),
    },
    REVIEWER: {
        "knowledge.document": ("view",),
        "faqs.faq": ("view", "add"),
        "chat.assistant": ("view",),
        "chat.conversation": ("view",),
        "chat.case": ("view", "change"),
        "chat.heldbacksentence": ("view", "change"),
        "analytics.gap": ("view", "change"),
        "analytics.topic": ("view",),
        "analytics.review": ("view", "change"),
        "analytics.sampledanswer": ("view", "change"),
        "analytics.evaluationset": ("view",),
        "analytics.evaluationquestion": ("view", "add", "change"),
    },
    ANALYST: {
        "knowledge.document": ("view",),
        "faqs.faq": ("view",),
        "chat.assistant": ("view",),
        "chat.experiment": ("view",),
        "chat.retrievalprofile": ("view",),
        "analytics.usagecount": (".view_dashboard",),
        "analytics.assumptions": ("view",),
        "analytics.timelinedate": EVERYTHING,
        "analytics.topic": ("view", "change"),
        "analytics.sampledanswer": ("view",),
        "analytics.report": (".export_reports",),
        "analytics.evaluationset": ("view",),
        "analytics.evaluationrun": ("view", "add"),
    },
    WHOLE_UNIVERSITY: {"knowledge.collection": (".whole_university",)},
}
#: Administrators that are named to somebody who needs one.
NAMED = 3
#: The apps of whose models an administrator may do everything.
ADMINISTERED = ("auth", "knowledge", "faqs", "chat", "analytics", "marcelcms", "django_celery_beat", "admin")


def role_title(group: str) -> str:
    """Return what a group is called on screens: a role by its title, a team by its name."""
    if group == WHOLE_UNIVERSITY:
        return str(_("Whole university"))
    return str(ROLE_TEXTS[group][0]) if group in ROLE_TEXTS else group


def is_role() -> Q:
    """Return the condition of groups that stand for roles; the others are teams."""
    return Q(name__in=[*ROLE_TEXTS, WHOLE_UNIVERSITY])


def permission_names(role: str) -> Iterator[tuple[str, str]]:
    """Yield the role's permissions as (app, codename)."""
    for model, actions in ROLES[role].items():
        app, name = model.split(".")
        for action in actions:
            yield app, action.removeprefix(".") if action.startswith(".") else f"{action}_{name}"


def make_roles() -> None:
    """Make the groups and add their missing permissions; keep what administrators added.

    Raise Permission.DoesNotExist for a permission that no model has.
    """
    for config in apps.get_app_configs():
        create_permissions(config, verbosity=0)
    for role in ROLES:
        group, _made = Group.objects.get_or_create(name=role)
        for app, codename in permission_names(role):
            group.permissions.add(Permission.objects.get(content_type__app_label=app, codename=codename))
    group, _made = Group.objects.get_or_create(name=ADMINISTRATOR)
    group.permissions.add(*Permission.objects.filter(content_type__app_label__in=ADMINISTERED))


def name_administrators() -> list[str]:
    """Return the names, with e-mail addresses, of some who may put others into teams."""
    may = Q(is_superuser=True) | Q(groups__name=ADMINISTRATOR)
    found = User.objects.filter(may, is_active=True, is_staff=True).distinct().order_by("pk")[:NAMED]
    names = ((user.get_full_name() or user.get_username(), user.email) for user in found)
    return [f"{name} ({email})" if email and email != name else name for name, email in names]


def name_teams(user: User) -> list[str]:
    """Return the names of the user's teams, without roles."""
    return list(Group.objects.filter(user=user).exclude(is_role()).order_by("name").values_list("name", flat=True))
