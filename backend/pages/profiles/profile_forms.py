"""The forms that make a reference profile: from a run, from the fleet."""

from typing import Any

from django import forms

from pages.metrics import TOOLS
from profiles.making import ProfileRequest

TOOL_CHOICES = [(tool.key, tool.label) for tool in TOOLS]


class ProfileForm(forms.Form):
    """What both ways of making a profile ask for."""

    origin = ""

    name = forms.CharField(max_length=100)
    tools = forms.MultipleChoiceField(
        choices=TOOL_CHOICES,
        initial=[key for key, _ in TOOL_CHOICES],
        error_messages={"required": "Choose at least one tool."},
    )

    def request(self) -> ProfileRequest:
        """The valid form as the request that it is."""
        fields: dict[str, Any] = self.cleaned_data
        return ProfileRequest(
            name=fields["name"],
            origin=self.origin,
            run_id=fields.get("run_id"),
            reference=fields.get("reference", ""),
            tools=tuple(fields["tools"]),
        )


class FromRunForm(ProfileForm):
    """Levels of one run."""

    origin = "run"

    run_id = forms.UUIDField(
        error_messages={"invalid": "This is no run id: it stands in the address of the run's page."}
    )


class FromFleetForm(ProfileForm):
    """A fit over every machine."""

    origin = "fleet"

    reference = forms.CharField(max_length=220, required=False)


FORMS: dict[str, type[ProfileForm]] = {"run": FromRunForm, "fleet": FromFleetForm}
