from django.db import migrations


def delete_entry(apps, _editor):
    """Its task reads other files than PDFs too, and is import-pending-uploads now; the beat keeps its schedule here."""
    apps.get_model("django_celery_beat", "PeriodicTask").objects.filter(name="import-pending-pdfs").delete()


class Migration(migrations.Migration):
    dependencies = [
        ("marcelcms", "0014_passkeys"),
        ("django_celery_beat", "0019_alter_periodictasks_options"),
    ]

    operations = [
        migrations.RunPython(delete_entry, migrations.RunPython.noop),
    ]
