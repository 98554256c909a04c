"""The screens of the staff and of what they did, where Django looks for them."""

from marcelcms.accounts import admin  # noqa: F401 (registers its screens)
