from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("chat", "0035_cases_by_words")]

    operations = [
        migrations.AddField(
            model_name="case", name="asked_again_at", field=models.DateTimeField(editable=False, null=True)
        ),
    ]
