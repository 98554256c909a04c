from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("knowledge", "0006_crawls_by_time"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="document",
            index=models.Index(fields=["title", "id"], name="document_by_title"),
        ),
        migrations.AddIndex(
            model_name="document",
            index=models.Index(fields=["language"], name="document_by_language"),
        ),
    ]
