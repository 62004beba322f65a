"""API endpoints of campaigns, for their members, and of their items, for managers."""

from typing import Any

from django.db.models import Prefetch, QuerySet
from django.shortcuts import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api import schema
from annotation.api import serializers as data
from annotation.campaigns.items import item_rows
from annotation.models import Campaign, Item, Membership
from annotation.permissions import is_person, visible_campaigns
from core.api.base import Endpoint
from core.api.listing import Listing, One
from core.enums import TokenScope
from core.people.roles import can_manage


class _OfPeople(Endpoint):
    scopes = {"GET": (TokenScope.READ, TokenScope.LABEL)}

    def allowed(self, person: Any) -> bool:
        return is_person(person)

    def seen(self) -> QuerySet[Campaign]:
        own = Prefetch("members", Membership.objects.filter(person=self.request.user), to_attr="own")
        return visible_campaigns(self.request.user).prefetch_related(own)


class Campaigns(_OfPeople, Listing):
    """GET the campaigns that you work in; managers and researchers see all of them, with their rules."""

    queryset = Campaign.objects.all()
    serializer_class = data.CampaignData
    filters = {"state": "state"}

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return super().filter_queryset(self.seen())


class CampaignOne(_OfPeople, One):
    """GET a campaign that you work in."""

    queryset = Campaign.objects.all()
    serializer_class = data.CampaignData

    def get_object(self) -> Campaign:
        return get_object_or_404(self.seen(), pool__name=self.kwargs["pool"])


class Items(Listing):
    """GET the triples that people judge, for managers; `relation` is a number as questions have it."""

    queryset = Item.objects.all()
    serializer_class = schema.ItemData
    filters = {"state": "state", "batch": "batch__number", "relation": "triple__relation"}

    def allowed(self, person: Any) -> bool:
        return can_manage(person)

    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        seen = visible_campaigns(request.user)
        campaign = get_object_or_404(seen, pool__name=kwargs["pool"])
        page = self.paginate_queryset(self.filter_queryset(campaign.items.order_by())) or []
        rows = item_rows(campaign, [item.pk for item in page])
        return self.get_paginated_response(data.items_data(campaign, rows))
