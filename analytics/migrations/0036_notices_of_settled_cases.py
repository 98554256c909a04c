from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("analytics", "0035_split_topics_and_mailed_drops")]

    operations = [
        migrations.RunSQL(
            """UPDATE analytics_notice AS notice SET read_at = now() FROM chat_case WHERE chat_case.id = notice.case_id
            AND notice.read_at IS NULL AND notice.kind IN ('new_case', 'case_message', 'late_case')
            AND chat_case.state <> 'open'""",
            migrations.RunSQL.noop,
        )
    ]
