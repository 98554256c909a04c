"""The screens of the staff and of what they did, where Django looks for them."""

from marcelcms.accounts import admin, team_admin  # noqa: F401 (they register their screens)
