import pgvector.django.halfvec
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("faqs", "0003_generations"),
    ]

    operations = [
        migrations.AlterField(
            model_name="faqvector",
            name="embedding",
            field=pgvector.django.halfvec.HalfVectorField(),
        ),
        migrations.RunSQL("ALTER TABLE faqs_faqvector ALTER COLUMN embedding SET STORAGE MAIN", migrations.RunSQL.noop),
    ]
