"""What was written in the old fields: tickets of slots, who labelled an item first, guidelines as version 1."""

from uuid import uuid4

from django.db import migrations

BATCH = 2000


def carry_over(apps, schema_editor):
    campaign, version = (apps.get_model("annotation", "Campaign"), apps.get_model("annotation", "GuidelineVersion"))
    for one in campaign.objects.exclude(guidelines=""):
        version.objects.create(campaign=one, version=1, text=one.guidelines)
    slot = apps.get_model("annotation", "Slot")
    while batch := list(slot.objects.filter(ticket=None).only("pk")[:BATCH]):
        for one in batch:
            one.ticket = uuid4()
        slot.objects.bulk_update(batch, ["ticket"], batch_size=500)
    label, item = apps.get_model("annotation", "Label"), apps.get_model("annotation", "Item")
    first: dict[int, int] = {}
    for item_id, person_id in label.objects.order_by("pk").values_list("item_id", "annotator_id").iterator():
        first.setdefault(item_id, person_id)
    items = [item(pk=pk, started_by_id=person) for pk, person in first.items()]
    item.objects.bulk_update(items, ["started_by"], batch_size=500)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0003_queue_quality_people")]
    operations = [migrations.RunPython(carry_over, migrations.RunPython.noop)]
