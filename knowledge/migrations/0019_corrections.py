"""What was read of each document is known from now on, and what staff changed in it is a correction."""

import django.db.models.deletion
from django.db import migrations, models

from core.hashing import fingerprint

#: The present texts that nobody of the staff ever touched were read, except courses' and the answers of FAQs.
UNTOUCHED = """
UPDATE knowledge_document AS document SET read_hash = content_hash
WHERE NOT is_written_answer
  AND NOT EXISTS (SELECT FROM knowledge_course WHERE document_id = document.id)
  AND NOT EXISTS (SELECT FROM knowledge_sourcepage WHERE document_id = document.id AND content_hash <> '')
  AND NOT EXISTS (
    SELECT FROM django_admin_log AS entry JOIN django_content_type AS kind ON kind.id = entry.content_type_id
    WHERE kind.app_label = 'knowledge' AND kind.model = 'document' AND entry.object_id = document.id::text
  )
"""
CRAWLED = """
UPDATE knowledge_document AS document SET read_hash = page.content_hash
FROM knowledge_sourcepage AS page WHERE page.document_id = document.id AND page.content_hash <> ''
"""


def keep_corrections(apps, schema_editor):
    """Make corrections of the crawled texts that staff changed, with what was read from the older versions."""
    Document = apps.get_model("knowledge", "Document")
    Revision = apps.get_model("knowledge", "DocumentRevision")
    Correction = apps.get_model("knowledge", "Correction")
    edited = Document.objects.exclude(read_hash="").exclude(read_hash=models.F("content_hash")).filter(course=None)
    for pk, read_hash, created_at, altered_at in edited.values_list("pk", "read_hash", "created_at", "altered_at"):
        for revision in Revision.objects.filter(document=pk).order_by("-replaced_at", "-pk"):
            if fingerprint(revision.title, revision.text) == read_hash:
                read = {"title": revision.title, "text": revision.text}
                Correction.objects.create(document_id=pk, **read, corrected_at=altered_at or created_at)
                break


class Migration(migrations.Migration):
    dependencies = [
        ("knowledge", "0018_pictures_of_text"),
        ("admin", "0003_logentry_add_action_flag_choices"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]

    operations = [
        migrations.AddField(
            model_name="document",
            name="read_hash",
            field=models.CharField(blank=True, db_default="", default="", editable=False, max_length=32),
        ),
        migrations.CreateModel(
            name="Correction",
            fields=[
                (
                    "document",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="correction",
                        serialize=False,
                        to="knowledge.document",
                    ),
                ),
                ("title", models.CharField(max_length=500)),
                ("text", models.TextField()),
                ("corrected_at", models.DateTimeField(verbose_name="corrected")),
                ("merged_at", models.DateTimeField(null=True)),
                ("new_title", models.CharField(blank=True, max_length=500)),
                ("new_text", models.TextField(blank=True)),
                ("new_references", models.JSONField(default=list)),
                ("found_at", models.DateTimeField(null=True)),
            ],
            options={"ordering": ["-corrected_at", "document"], "default_permissions": ()},
        ),
        migrations.RunSQL(UNTOUCHED, migrations.RunSQL.noop),
        migrations.RunSQL(CRAWLED, migrations.RunSQL.noop),
        migrations.RunPython(keep_corrections, migrations.RunPython.noop),
        migrations.RemoveField(model_name="sourcepage", name="content_hash"),
    ]
