import pgvector.django.halfvec
from django.db import migrations

#: A generation's index is on an expression of the former type, which no query uses any more.
INDEXES_ANEW = """
DO $$
DECLARE generation record; indexed text;
BEGIN
    FOR generation IN SELECT id, dimensions, state FROM knowledge_generation LOOP
        FOREACH indexed IN ARRAY ARRAY['knowledge_passage', 'knowledge_unit'] LOOP
            EXECUTE format('DROP INDEX IF EXISTS %I', indexed || '_hnsw_' || generation.id);
            IF generation.state = 'live' THEN
                EXECUTE format(
                    'CREATE INDEX %I ON %I USING hnsw ((embedding::halfvec(%s)) halfvec_cosine_ops)'
                    ' WITH (m = 16, ef_construction = 200) WHERE generation_id = %s',
                    indexed || '_hnsw_' || generation.id, indexed, generation.dimensions, generation.id
                );
            END IF;
        END LOOP;
    END LOOP;
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("knowledge", "0003_sources_scope_and_generations"),
    ]

    operations = [
        migrations.AlterField(
            model_name="passage",
            name="embedding",
            field=pgvector.django.halfvec.HalfVectorField(),
        ),
        migrations.AlterField(
            model_name="unit",
            name="embedding",
            field=pgvector.django.halfvec.HalfVectorField(),
        ),
        # A new type takes its own way of storage; fetching vectors from a TOAST table is most of a search's time.
        migrations.RunSQL(
            "ALTER TABLE knowledge_passage ALTER COLUMN embedding SET STORAGE MAIN", migrations.RunSQL.noop
        ),
        migrations.RunSQL("ALTER TABLE knowledge_unit ALTER COLUMN embedding SET STORAGE MAIN", migrations.RunSQL.noop),
        migrations.RunSQL(INDEXES_ANEW, migrations.RunSQL.noop),
    ]
