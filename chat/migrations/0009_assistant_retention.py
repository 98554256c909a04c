import django.core.validators
from django.db import migrations, models

import chat.models.assistants


class Migration(migrations.Migration):
    dependencies = [
        ("chat", "0008_conversation_site"),
    ]

    operations = [
        migrations.AddField(
            model_name="assistant",
            name="keep_conversations_days",
            field=models.PositiveSmallIntegerField(
                blank=True,
                help_text="Days after the last message; then they are deleted. Empty: the server’s own (RETENTION_DAYS).",
                null=True,
                validators=[
                    django.core.validators.MinValueValidator(1),
                    chat.models.assistants.at_most_servers_days,
                ],
                verbose_name="keep conversations",
            ),
        ),
        migrations.AddField(
            model_name="assistant",
            name="keep_questions_days",
            field=models.PositiveSmallIntegerField(
                blank=True,
                help_text="Days from when they were asked, without names, addresses and numbers. Empty: none are kept.",
                null=True,
                validators=[
                    django.core.validators.MinValueValidator(1),
                    django.core.validators.MaxValueValidator(3650),
                ],
                verbose_name="keep anonymised questions",
            ),
        ),
        migrations.AddField(
            model_name="assistant",
            name="keep_counts_months",
            field=models.PositiveSmallIntegerField(
                blank=True,
                help_text="Months that the dashboard looks back. Figures tell of nobody. Empty: for ever.",
                null=True,
                validators=[
                    django.core.validators.MinValueValidator(1),
                    django.core.validators.MaxValueValidator(600),
                ],
                verbose_name="keep figures",
            ),
        ),
    ]
