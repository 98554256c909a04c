from django.db import migrations

from marcelcms.accounts.roles import make_roles


class Migration(migrations.Migration):
    dependencies = [
        ("marcelcms", "0002_api_tokens"),
        ("knowledge", "0009_flagged_texts"),
    ]

    operations = [
        migrations.RunPython(lambda *_: make_roles(), migrations.RunPython.noop),
    ]
