from django.urls import path

from evaluation.views import status

urlpatterns = [
    path("", status.home, name="home"),
    path("pools/<slug:name>", status.status, name="pool"),
]
