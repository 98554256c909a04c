import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('knowledge', '0008_figures_tell_pages_apart'),
    ]

    operations = [
        migrations.AddField(
            model_name='indexeddocument',
            name='rules',
            field=models.CharField(db_default='', default='', max_length=32),
        ),
        migrations.AddField(
            model_name='passage',
            name='flags',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=32), db_default=[], default=list, size=None),
        ),
        migrations.AddField(
            model_name='passage',
            name='is_withheld',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.CreateModel(
            name='FlaggedText',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('text', models.TextField(verbose_name='text')),
                ('text_hash', models.CharField(editable=False, max_length=32)),
                ('signs', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=30), size=None, verbose_name='reasons')),
                ('state', models.CharField(choices=[('open', 'to be checked'), ('cleared', 'cleared'), ('hidden', 'kept hidden')], default='open', max_length=8, verbose_name='state')),
                ('found_at', models.DateTimeField(auto_now_add=True, verbose_name='found')),
                ('document', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='flagged_texts', to='knowledge.document', verbose_name='document')),
            ],
            options={
                'verbose_name': 'flagged passage',
                'verbose_name_plural': 'flagged passages',
                'ordering': ['-found_at', '-pk'],
                'default_permissions': ('view', 'change'),
                'constraints': [models.UniqueConstraint(fields=('document', 'text_hash'), name='one_flag_a_document_and_text')],
            },
        ),
    ]
