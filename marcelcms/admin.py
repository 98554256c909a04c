"""The screens of the staff and of what they did, where Django looks for them."""

# They register their screens.
from marcelcms.accounts import admin, audit_log, team_admin  # noqa: F401
from marcelcms.accounts.second_factor import admin as second_factor_admin  # noqa: F401
from marcelcms.accounts.sign_on import admin as sign_on_admin  # noqa: F401
