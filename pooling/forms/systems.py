"""Forms of the pages that train systems: one, several of many kinds, or a model of PyKEEN by its class."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from django import forms

from core.forms import NameField, PageForm
from pooling.models import Graph
from pooling.systems import SYSTEMS, USUAL, get_system
from pooling.systems.pykeen_model import MODELS, PREFIX
from pooling.systems.spec import COMMON_SETTINGS, Entry, Setting
from pooling.training.compare import shown

DIFFERS = "differs by system"
SET = "set_"  # prefix of the fields of settings: a setting may be called name, like the field of the system
MAIN_SETTINGS = ("embedding_dim", "epochs", "batch_size", "learning_rate", "optimizer", "dropout")
OTHER_MODELS = [label for label in MODELS if label.lower() not in SYSTEMS]  # the others have a file each
DEVICES = [("auto", "auto: a GPU where there is one"), ("cpu", "CPU"), ("cuda", "GPU")]


class SettingsForm(PageForm):
    """Ask for settings of systems; an empty field means the preset."""

    known: Mapping[str, Setting] = {}

    def add_settings(self, known: Mapping[str, Setting], presets: Mapping[str, str]) -> None:
        """Add a field for each setting, with its preset as the placeholder."""
        self.known = known
        for key, setting in known.items():
            self.fields[f"{SET}{key}"] = setting_field(key, setting, presets[key])

    def settings_named(self, keys: Iterable[str]) -> list[forms.BoundField]:
        return [self[f"{SET}{key}"] for key in keys if key in self.known]

    @property
    def main_settings(self) -> list[forms.BoundField]:
        """Return the fields that people change most: those of this system alone, then the main common ones."""
        own = [key for key in self.known if key not in COMMON_SETTINGS]
        return self.settings_named([*own, *MAIN_SETTINGS])

    @property
    def more_settings(self) -> list[forms.BoundField]:
        return self.settings_named(key for key in self.known if key in COMMON_SETTINGS and key not in MAIN_SETTINGS)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        cleaned["settings"] = settings = {}
        for key, setting in self.known.items():
            if text := cleaned.pop(f"{SET}{key}", ""):
                try:
                    settings[key] = setting.parse(key, text)
                except ValueError as error:
                    self.add_error(f"{SET}{key}", str(error))
        return cleaned

    def add_error(self, field: str | None, error: Any) -> None:
        """Show a refusal of the domain at the setting that its words begin with, or above the form."""
        if field is None and isinstance(error, str) and (named := re.match(r"(?:setting )?(\w+)(?:=| is )", error)):
            key = f"{SET}{named[1]}"
            field = key if key in self.fields else None
        super().add_error(field, error)


def setting_field(key: str, setting: Setting, preset: str) -> forms.CharField:
    """Return a list of choices or a field for a number; the registry checks the value that is sent."""
    widget: forms.Widget
    first = setting.help[:1]
    about = (first.upper() if first.isascii() else first) + setting.help[1:]  # γ stays γ
    if setting.choices:
        none = f"preset: {preset}"
        widget = forms.Select(choices=[("", none), *((choice, choice) for choice in setting.choices)])
        help_text = f"{about}."
    else:
        bounds = {"min": f"{setting.low:g}", "max": f"{setting.high:.10g}"}
        step = "1" if setting.type is int else "any"
        widget = forms.NumberInput(attrs={**bounds, "step": step, "placeholder": preset})
        help_text = f"{about}. {setting.allowed.capitalize()}."
    return forms.CharField(label=key, required=False, widget=widget, help_text=help_text)


class TrainForm(SettingsForm):
    """Ask for the systems to train, and for settings that hold for all of them.

    `took`: the seconds that the newest system of a kind took to train on the graph, by kind.
    """

    kinds = forms.MultipleChoiceField(
        label="Systems",
        choices=[(spec.name, spec.label) for spec in SYSTEMS.values()],
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one system."},
    )
    seeds = forms.IntegerField(
        label="Random seeds",
        initial=1,
        min_value=1,
        max_value=20,
        help_text="Systems of each kind. Each starts training from other random values.",
    )
    device = forms.ChoiceField(label="Device", choices=DEVICES, initial="auto")
    best = forms.BooleanField(
        label="Keep only the best of these seeds",
        required=False,
        help_text="By validation MRR, once all are trained; the others are archived.",
    )

    def __init__(self, graph: Graph, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        there = dict(graph.systems.order_by("id").values_list("kind", "train_seconds"))
        self.took = {kind: seconds for kind, seconds in there.items() if seconds}
        self.initial["kinds"] = [kind for kind in USUAL if kind not in there]
        presets: dict[str, set[str]] = {key: set() for key in COMMON_SETTINGS}
        for spec in SYSTEMS.values():
            for key, value in spec.preset(graph.num_entities, graph.num_train).items():
                if key in presets:
                    presets[key].add(shown(value))
        same = {key: "".join(of) if len(of) == 1 else DIFFERS for key, of in presets.items()}
        self.add_settings(COMMON_SETTINGS, same)


class SystemForm(SettingsForm):
    """Ask for all settings of one system: a new one, a clone, or one that is trained anew."""

    name = NameField(label="Name", max_length=80, help_text="Letters, digits, - and _. It becomes part of the address.")
    seed = forms.IntegerField(
        label="Seed", min_value=0, max_value=2**31 - 1, help_text="Where training starts: another seed, another system."
    )
    device = forms.ChoiceField(label="Device", choices=DEVICES, initial="auto")

    def __init__(self, graph: Graph, spec: Entry, *args: Any, named: bool = True, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not named:
            del self.fields["name"]
        preset = spec.preset(graph.num_entities, graph.num_train)
        self.add_settings(spec.settings, {key: shown(preset[key]) for key in spec.settings})


class PykeenForm(PageForm):
    """Ask for a model of PyKEEN by its class name; the cleaned value is its entry in the registry."""

    model = forms.CharField(
        label="Class name",
        max_length=80,
        widget=forms.TextInput(attrs={"list": "pykeen-models", "autocomplete": "off", "spellcheck": "false"}),
        help_text=f"One of the {len(OTHER_MODELS)} that the field offers, PairRE say.",
        error_messages={"required": "Give the name of a class."},
    )

    def clean_model(self) -> Entry:
        try:
            return get_system(PREFIX + self.cleaned_data["model"].removeprefix(PREFIX))
        except ValueError as error:
            raise forms.ValidationError(str(error)) from error

    @property
    def models(self) -> list[str]:
        return OTHER_MODELS
