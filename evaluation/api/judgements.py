"""API endpoint of judgements: the pooled triples of a pool as rows."""

from typing import Any

from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.listing import Listing
from evaluation.api import serializers as data
from evaluation.labels.judgement_rows import judgement_rows
from pooling.models import PooledTriple
from pooling.views.find import find_pool


class Judgements(Listing):
    """GET the pooled triples with their state now and how they were settled; `verdict` keeps to judged ones."""

    queryset = PooledTriple.objects.select_related("judgement")
    serializer_class = data.JudgementData
    filters = {"verdict": "judgement__verdict", "origin": "judgement__origin", "filter": "reason"}

    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        pool = find_pool(kwargs["pool"])
        of_pool: QuerySet[PooledTriple] = self.get_queryset().filter(pool=pool)
        page = self.paginate_queryset(self.filter_queryset(of_pool)) or []
        return self.get_paginated_response(data.JudgementData(judgement_rows(pool, page), many=True).data)
