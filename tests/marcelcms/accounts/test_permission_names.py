"""Permissions are shown by what they allow, in the reader's language, to choose from and to read."""

import pytest
from django.contrib.auth.models import Group, Permission
from django.contrib.contenttypes.models import ContentType
from django.test import Client
from django.urls import reverse
from django.utils.translation import override

from marcelcms.accounts.permissions import describe_permission
from marcelcms.accounts.roles import ANALYST, make_roles
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db
GERMAN = {"accept-language": "de"}


@pytest.fixture(autouse=True)
def _roles() -> None:
    """Make the roles, which a test without a rollback may have emptied."""
    make_roles()


def shown_names(client: Client, address: str, field: str) -> list[str]:
    form = client.get(address, headers=GERMAN).context["adminform"].form
    with override("de"):
        return [str(label) for _value, label in form.fields[field].choices]


def test_the_pages_of_a_role_call_it_by_its_title() -> None:
    administrator = Client()
    administrator.force_login(UserFactory(is_superuser=True))
    for page in ("change", "delete", "history"):
        address = reverse(f"admin:auth_group_{page}", args=[Group.objects.get(name=ANALYST).pk])
        shown = administrator.get(address, headers=GERMAN).content.decode()
        assert "Gruppe" not in shown.split("<h1>")[1].split("</h1>")[0]
        assert "Auswertung" in shown.split('<div class="breadcrumbs">')[1].split("</div>")[0]


def test_roles_and_accounts_offer_permissions_by_name_in_order() -> None:
    administrator = Client()
    administrator.force_login(UserFactory(is_superuser=True))
    role = reverse("admin:auth_group_change", args=[Group.objects.get(name=ANALYST).pk])
    names = shown_names(administrator, role, "permissions")
    assert {"Dokumente: ansehen", "Dokumente: löschen", "Teams und Rollen: ändern", "Darf das Dashboard sehen"} <= {
        *names
    }
    assert names == sorted(names, key=str.casefold)
    assert not [name for name in names if "|" in name or "_" in name or name.startswith("Can ")]
    account = reverse("admin:auth_user_change", args=[UserFactory().pk])
    assert shown_names(administrator, account, "user_permissions") == names
    assert "Documents: view" in administrator.get(role).content.decode()


def test_who_may_only_look_reads_the_same_names() -> None:
    client = Client()
    client.force_login(UserFactory(permissions=["auth.view_group", "auth.change_user"]))
    page = reverse("admin:auth_group_change", args=[Group.objects.get(name=ANALYST).pk])
    content = client.get(page, headers=GERMAN).content.decode()
    assert "Dokumente: ansehen" in content
    assert "Can view" not in content
    account = reverse("admin:auth_user_change", args=[UserFactory(permissions=["faqs.publish_faq"]).pk])
    content = client.get(account, headers=GERMAN).content.decode()
    assert "Darf FAQs veröffentlichen" in content
    assert "Can publish" not in content


def test_a_permission_of_a_removed_app_keeps_its_name() -> None:
    kind = ContentType.objects.create(app_label="removed", model="thing")
    permission = Permission(content_type=kind, codename="view_thing", name="Can view thing")
    assert describe_permission(permission) == "Can view thing"
