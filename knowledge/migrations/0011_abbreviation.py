import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ('knowledge', '0010_words_of_screens'),
    ]

    operations = [
        migrations.CreateModel(
            name='Abbreviation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('short', models.CharField(max_length=20, verbose_name='abbreviation')),
                ('long', models.CharField(max_length=200, verbose_name='stands for')),
                ('collection', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='abbreviations', to='knowledge.collection')),
            ],
            options={
                'verbose_name': 'abbreviation',
                'verbose_name_plural': 'abbreviations',
                'ordering': ['short', 'long'],
                'constraints': [models.UniqueConstraint(fields=('collection', 'short', 'long'), name='abbreviation_once')],
            },
        ),
    ]
