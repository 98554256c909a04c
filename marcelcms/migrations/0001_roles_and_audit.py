from django.db import migrations

from marcelcms.accounts.roles import make_roles

#: What staff did stays as it was written down; a flush of a test database truncates, which this does not forbid.
APPEND_ONLY = """
CREATE FUNCTION refuse_change_of_audit_log() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'What staff did cannot be changed or deleted.' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON django_admin_log
    FOR EACH ROW EXECUTE FUNCTION refuse_change_of_audit_log();
CREATE INDEX audit_log_by_time ON django_admin_log (action_time DESC, id DESC);
CREATE INDEX audit_log_by_row ON django_admin_log (content_type_id, object_id);
"""
AS_BEFORE = """
DROP INDEX audit_log_by_row;
DROP INDEX audit_log_by_time;
DROP TRIGGER append_only ON django_admin_log;
DROP FUNCTION refuse_change_of_audit_log();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("admin", "0003_logentry_add_action_flag_choices"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("knowledge", "0006_crawls_by_time"),
        ("faqs", "0006_care"),
        ("chat", "0009_assistant_retention"),
        ("analytics", "0009_reports"),
        ("django_celery_beat", "0019_alter_periodictasks_options"),
    ]

    operations = [
        migrations.RunSQL(APPEND_ONLY, AS_BEFORE),
        migrations.RunPython(lambda *_: make_roles(), migrations.RunPython.noop),
    ]
