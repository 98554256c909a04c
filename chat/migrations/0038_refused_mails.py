from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("chat", "0037_adoptions_taken_back")]

    operations = [
        migrations.CreateModel(
            name="RefusedMail",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("headers_hash", models.CharField(max_length=64)),
                ("refused_at", models.DateTimeField(auto_now_add=True)),
                (
                    "case",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=models.deletion.DO_NOTHING,
                        related_name="+",
                        to="chat.case",
                    ),
                ),
            ],
            options={
                "default_permissions": (),
                "constraints": [
                    models.UniqueConstraint(fields=("headers_hash", "case"), name="one_row_a_refused_mail")
                ],
            },
        ),
    ]
