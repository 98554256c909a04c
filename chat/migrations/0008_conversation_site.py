import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("chat", "0007_retrieved_and_language"),
    ]

    operations = [
        migrations.AddField(
            model_name="conversation",
            name="site",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="conversations",
                to="chat.site",
                verbose_name="site",
            ),
        ),
        migrations.AddIndex(
            model_name="conversation",
            index=models.Index(fields=["created_at"], name="chat_conver_created_656b50_idx"),
        ),
        migrations.AddIndex(
            model_name="message",
            index=models.Index(fields=["created_at"], name="chat_messag_created_b6b51c_idx"),
        ),
    ]
