from django.db import migrations


class Migration(migrations.Migration):
    """What additive migrations do: columns with a default, an index, a table that refers to the others, and rows."""

    dependencies = [("chat", "0001_initial"), ("knowledge", "0001_initial")]

    operations = [
        migrations.RunSQL(
            "ALTER TABLE chat_message ADD COLUMN mark integer NOT NULL DEFAULT 7; "
            "ALTER TABLE chat_conversation ADD COLUMN marked_at timestamptz NULL; "
            "ALTER TABLE knowledge_document ADD COLUMN mark text NOT NULL DEFAULT 'new'; "
            "CREATE INDEX chat_message_mark ON chat_message (mark, id); "
            "CREATE TABLE next_version_mark (id bigserial PRIMARY KEY, "
            "message_id bigint NOT NULL REFERENCES chat_message ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED)"
        ),
        migrations.RunSQL("INSERT INTO next_version_mark (message_id) SELECT id FROM chat_message"),
    ]
