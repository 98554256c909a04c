from django.db import migrations

from marcelcms.accounts.roles import make_roles


class Migration(migrations.Migration):
    dependencies = [
        ("marcelcms", "0018_roles_judge_samples"),
        ("analytics", "0032_counts_of_experiments"),
    ]

    operations = [
        migrations.RunPython(lambda *_: make_roles(), migrations.RunPython.noop),
    ]
