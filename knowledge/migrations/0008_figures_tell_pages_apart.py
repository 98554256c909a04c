"""Pages count as the same by their whole text from now on, which `content_hash` has of every page that was read."""

from django.db import migrations, models


def take_over(apps, schema_editor):
    pages = apps.get_model("knowledge", "SourcePage").objects.exclude(likeness="")
    pages.update(likeness=models.F("content_hash"))


class Migration(migrations.Migration):
    dependencies = [
        ("knowledge", "0007_documents_listed_quickly"),
    ]

    operations = [
        migrations.RunPython(take_over, migrations.RunPython.noop, elidable=True),
    ]
