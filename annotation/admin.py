"""Read-only lists of campaigns, labels and judgements for administrators of the server."""

from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.http import HttpRequest

from annotation.models import Campaign, Judgement, Label

# accounts and roles are changed on our own pages, which keep site and campaign roles apart and record each act
admin.site.unregister([User, Group])


class ReadOnly(admin.ModelAdmin):
    def has_add_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    has_change_permission = has_delete_permission = has_add_permission


@admin.register(Campaign)
class CampaignAdmin(ReadOnly):
    list_display = ("pool", "state", "evidence_rule", "lease_minutes")


@admin.register(Label)
class LabelAdmin(ReadOnly):
    list_display = ("item", "annotator", "answer", "created_at")
    list_select_related = ("item__campaign__pool", "annotator")


@admin.register(Judgement)
class JudgementAdmin(ReadOnly):
    list_display = ("triple", "verdict", "origin", "decided_at")
    list_filter = ("verdict", "origin")
