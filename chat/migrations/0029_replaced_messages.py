from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("chat", "0028_messages_in_order")]

    operations = [
        migrations.AddField(
            model_name="message",
            name="is_replaced",
            field=models.BooleanField(
                db_default=False, default=False, editable=False, verbose_name="replaced by the student"
            ),
        ),
    ]
