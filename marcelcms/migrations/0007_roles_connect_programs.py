from django.db import migrations

from marcelcms.accounts.roles import make_roles


class Migration(migrations.Migration):
    dependencies = [
        ("marcelcms", "0006_tokens_in_order"),
        ("chat", "0021_api_clients"),
    ]

    operations = [
        migrations.RunPython(lambda *_: make_roles(), migrations.RunPython.noop),
    ]
