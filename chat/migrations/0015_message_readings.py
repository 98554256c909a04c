from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ('chat', '0014_language_model_layouts'),
    ]

    operations = [
        migrations.AddField(
            model_name='message',
            name='readings',
            field=models.JSONField(blank=True, db_default=models.Value([], output_field=models.JSONField()), default=list),
        ),
    ]
