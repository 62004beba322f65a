import uuid

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0004_carry_over")]
    operations = [
        migrations.RemoveField(model_name="campaign", name="guidelines"),
        migrations.RemoveField(model_name="item", name="started"),
        migrations.AlterField(
            model_name="slot",
            name="ticket",
            field=models.UUIDField(default=uuid.uuid4, editable=False, help_text="its name outside", unique=True),
        ),
    ]
