import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('analytics', '0034_counts_of_cases'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='inboxpreferences',
            name='mails_quality',
            field=models.BooleanField(db_default=True, default=True, verbose_name='E-mail me when clearly fewer answers are right'),
        ),
        migrations.AddField(
            model_name='qualitydrop',
            name='mailed_to',
            field=models.ManyToManyField(related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='topiccount',
            name='joined_from',
            field=models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='analytics.topic'),
        ),
        migrations.AddField(
            model_name='topicquestion',
            name='joined_from',
            field=models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='analytics.topic'),
        ),
    ]
