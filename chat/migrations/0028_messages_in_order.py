from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0027_counted_cases'),
    ]

    operations = [
        migrations.AlterModelOptions(
            name='casemessage',
            options={'default_permissions': (), 'ordering': ['created_at', 'pk']},
        ),
    ]
