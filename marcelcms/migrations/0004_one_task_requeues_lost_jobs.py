from django.db import migrations

#: Their tasks are one since, marcelcms.tasks.requeue_lost_jobs; Celery's beat keeps its schedule in the database.
NAMES = ("resume-crawls", "reconcile-evaluations", "resume-shadow-tests", "resume-reports", "resume-gaps")


def delete_entries(apps, _editor):
    apps.get_model("django_celery_beat", "PeriodicTask").objects.filter(name__in=NAMES).delete()


class Migration(migrations.Migration):
    dependencies = [
        ("marcelcms", "0003_roles_check_flagged_passages"),
        ("django_celery_beat", "0019_alter_periodictasks_options"),
    ]

    operations = [
        migrations.RunPython(delete_entries, migrations.RunPython.noop),
    ]
