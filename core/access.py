"""Row-level access: staff work on the collections and assistants that their teams are responsible for.

A team is a group of users, such as a faculty's. The groups of `marcelcms.accounts.roles` say what somebody may do,
teams say with which rows.
"""

from typing import TYPE_CHECKING, ClassVar, Self, TypeVar

from django.apps import apps
from django.db.models import Model, QuerySet

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

    Staff = User | AnonymousUser
else:
    Staff = object


Row = TypeVar("Row", bound=Model)
#: Staff with this permission work on everything, whatever their teams.
WHOLE_UNIVERSITY = "knowledge.whole_university"


def name_of(user: "User") -> str:
    """Return the name that colleagues know a member of staff by."""
    return user.get_full_name() or user.get_username()


def sees_everything(user: "Staff") -> bool:
    return user.has_perm(WHOLE_UNIVERSITY)


class StaffScoped(QuerySet[Row]):
    """A queryset of rows that belong to one with `teams`: `owner` is the lookup that leads there, of `owner_model`."""

    owner: ClassVar[str] = "collection"
    owner_model: ClassVar[str] = "knowledge.Collection"

    def visible_to(self, user: "Staff") -> Self:
        """Filter the rows that a member of staff works on; rows without an owner are for staff with full access."""
        if sees_everything(user):
            return self
        own = apps.get_model(self.owner_model)._default_manager.filter(teams__in=user.groups.all())
        return self.filter(**{f"{self.owner}__in": own.values("pk")})
