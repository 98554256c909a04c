from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("faqs", "0006_care")]

    operations = [
        migrations.AlterField(
            model_name="faqversion",
            name="reason",
            field=models.CharField(
                choices=[
                    ("form", "saved in the form"),
                    ("status", "status changed in the list"),
                    ("import", "imported from a file"),
                    ("restore", "an earlier version restored"),
                    ("merge", "merged with a duplicate"),
                    ("gap", "made from what students asked in vain"),
                    ("api", "over the staff API"),
                    ("test", "published after a shadow test"),
                    ("found", "as it was found"),
                ],
                max_length=12,
                verbose_name="reason",
            ),
        ),
    ]
