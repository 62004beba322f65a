"""The form of a new open-world study; the domain checks the options that it returns."""

from dataclasses import replace

from django import forms

from core.forms import NameField, PageForm
from evaluation.open_world.study import LONGEST_NAME, SMALL, StudyOptions
from pooling.forms.systems import DEVICES
from pooling.systems import SYSTEMS
from pooling.systems.spec import SystemSpec

NO_NUMBERS = "Write numbers with spaces between them, as in 0.95 0.75."
EPOCHS = "Of every system. Empty: those of the size."
FULL = StudyOptions()
NAMES = [(spec.name, spec.label) for spec in SYSTEMS.values() if isinstance(spec, SystemSpec)]


class StudyForm(PageForm):
    """Ask for the name, size and options of a study; an empty field takes the value of the chosen size."""

    name = NameField(
        label="Name",
        max_length=LONGEST_NAME,
        help_text="Letters, digits, - and _. Its graphs are called NAME-d95 and so on.",
        error_messages={"required": "Give the study a name."},
    )
    size = forms.ChoiceField(
        label="Size",
        choices=[
            ("small", f"small: {SMALL.families} families, {len(SMALL.densities)} densities, minutes"),
            ("full", f"the paper's: {FULL.families} families, {len(FULL.densities)} densities, hours without a GPU"),
        ],
    )
    systems = forms.MultipleChoiceField(
        label="Systems",
        choices=NAMES,
        required=False,
        help_text="None: those of the size.",
        widget=forms.CheckboxSelectMultiple,
    )
    density = forms.CharField(
        label="Densities",
        required=False,
        max_length=200,
        help_text="Shares of the facts that are known, as in 0.95 0.75. Empty: those of the size.",
        widget=forms.TextInput(attrs={"placeholder": " ".join(f"{d:g}" for d in SMALL.densities)}),
    )
    epochs = forms.IntegerField(label="Epochs", required=False, min_value=2, max_value=10_000, help_text=EPOCHS)
    seed = forms.IntegerField(label="Seed", min_value=0, max_value=2**31, initial=FULL.seed)
    device = forms.ChoiceField(label="Device", choices=DEVICES, initial="auto")

    def clean_density(self) -> tuple[float, ...]:
        text = self.cleaned_data["density"].replace(",", " ")
        if "_" in text:  # Python takes 0.9_5 for a number
            raise forms.ValidationError(NO_NUMBERS)
        try:
            return tuple(float(word) for word in text.split())
        except ValueError:
            raise forms.ValidationError(NO_NUMBERS) from None

    def options(self) -> StudyOptions:
        """Return the options of the chosen size, changed by the fields that were filled in."""
        asked = self.cleaned_data
        size = SMALL if asked["size"] == "small" else FULL
        return replace(
            size,
            seed=asked["seed"],
            device=asked["device"],
            systems=tuple(asked["systems"]) or size.systems,
            densities=asked["density"] or size.densities,
            settings={**size.settings, **({"epochs": str(asked["epochs"])} if asked["epochs"] else {})},
        )
