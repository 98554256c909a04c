"""Courses that are read from a handbook say from which one, and what it said of them."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("knowledge", "0019_corrections")]

    operations = [
        migrations.AddField(
            model_name="course",
            name="read_from",
            field=models.ForeignKey(
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="courses_read",
                to="knowledge.document",
                verbose_name="read from",
            ),
        ),
        migrations.AddField(
            model_name="course",
            name="read_values",
            field=models.JSONField(
                blank=True,
                db_default=models.Value({}, output_field=models.JSONField()),
                default=dict,
                editable=False,
            ),
        ),
    ]
