from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("knowledge", "0005_teams"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="crawlrun",
            index=models.Index(fields=["-created_at", "-id"], name="crawl_by_time"),
        ),
    ]
