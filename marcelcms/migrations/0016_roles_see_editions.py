from django.db import migrations

from marcelcms.accounts.roles import make_roles


class Migration(migrations.Migration):
    dependencies = [
        ("marcelcms", "0015_one_task_reads_uploads"),
        ("knowledge", "0016_editions"),
    ]

    operations = [
        migrations.RunPython(lambda *_: make_roles(), migrations.RunPython.noop),
    ]
