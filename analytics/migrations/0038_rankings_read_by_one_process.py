from django.db import migrations

TABLES = ("analytics_documentcount", "analytics_faqcount", "analytics_topiccount")


class Migration(migrations.Migration):
    """Rankings are read by one process: to start others takes longer than the tens of thousands of rows that are read."""

    dependencies = [("analytics", "0037_open_reviews")]

    operations = [
        migrations.RunSQL(
            [f"ALTER TABLE {table} SET (parallel_workers = 0)" for table in TABLES],
            [f"ALTER TABLE {table} RESET (parallel_workers)" for table in TABLES],
        )
    ]
