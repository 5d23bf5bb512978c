import django.db.models.deletion
from django.db import migrations, models

from jobs.search_tables import uninstall


def forget_texts(apps, schema_editor):
    """They are derived, and those that there are lack what a search looks at."""
    apps.get_model("jobs", "StepText").objects.all().delete()


def drop_index(apps, schema_editor):
    """Its triggers name a column that goes."""
    uninstall(schema_editor.connection)


class Migration(migrations.Migration):

    dependencies = [
        ('jobs', '0003_job_figures'),
    ]

    operations = [
        migrations.RunPython(forget_texts, migrations.RunPython.noop),
        migrations.RemoveField(
            model_name='stepindex',
            name='text_is_indexed',
        ),
        migrations.AddField(
            model_name='steptext',
            name='folded',
            field=models.TextField(default=''),
            preserve_default=False,
        ),
        migrations.CreateModel(
            name='TextMark',
            fields=[
                ('execution', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='text_mark', serialize=False, to='jobs.execution')),
                ('version', models.PositiveSmallIntegerField()),
                ('upto', models.PositiveIntegerField(default=0)),
                ('is_whole', models.BooleanField(default=False)),
                ('problem', models.CharField(blank=True, max_length=200)),
                ('index', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='jobs.stepindex')),
                ('job', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='jobs.job')),
            ],
        ),
        # The index itself, on either database, is installed after every migration: see jobs.search_tables.
        migrations.RunPython(migrations.RunPython.noop, drop_index),
    ]
