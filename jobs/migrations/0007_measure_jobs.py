"""Sizes of the Jobs that landed before sizes were kept, as `jobs.sizes` counts them."""

from collections import defaultdict

from django.db import migrations

from jobs.domain.file_kinds import kind_of


def measure(apps, schema_editor):
    Job, Execution, Blob, SupersededTrial = (
        apps.get_model("jobs", name) for name in ("Job", "Execution", "Blob", "SupersededTrial")
    )
    for job in Job.objects.only("pack_id", "files").iterator(chunk_size=100):
        kinds = defaultdict(lambda: [0, 0])
        packs = {job.pack_id}
        for file in job.files:
            count(kinds["records"], file)
        rows = Execution.objects.filter(trial__job_id=job.pk).values_list("pack_id", "files")
        for pack, files in rows.iterator(chunk_size=500):
            packs.add(pack)
            for file in files:
                count(kinds[kind_of(file[0], file[5]).value], file)
        for earlier in SupersededTrial.objects.filter(trial__job_id=job.pk).values_list("packs", flat=True):
            packs.update(earlier)
        sizes = {}
        for digest in sorted(packs):
            sizes.update(Blob.objects.filter(pk=digest).values_list("digest", "size"))
        Job.objects.filter(pk=job.pk).update(
            size=sum(sizes.values()), sizes={"kinds": kinds, "removed": {}, "packs": sizes}
        )


def count(counted, file):
    counted[0] += 1
    counted[1] += file[3]


class Migration(migrations.Migration):
    dependencies = [("jobs", "0006_sizes_and_retention")]
    operations = [migrations.RunPython(measure, migrations.RunPython.noop, elidable=True)]
