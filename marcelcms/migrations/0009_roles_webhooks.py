from django.db import migrations

from marcelcms.accounts.roles import make_roles


class Migration(migrations.Migration):
    dependencies = [
        ("marcelcms", "0008_roles_answer_cases"),
        ("chat", "0023_webhooks"),
    ]

    operations = [
        migrations.RunPython(lambda *_: make_roles(), migrations.RunPython.noop),
    ]
