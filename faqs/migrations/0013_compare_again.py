"""FAQs are compared with each other again: those that name different programmes, courses or years are no duplicates."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("faqs", "0012_cases")]
    operations = [
        migrations.RunSQL("UPDATE faqs_faq SET compared_in = NULL", migrations.RunSQL.noop, elidable=True),
    ]
