"""Addresses of the pages of people: accounts, invitations, consent, own account, password, audit log."""

from django.urls import path

from annotation.views import account
from annotation.views import people as person
from annotation.views.audit_log import audit
from annotation.views.consent import consent
from annotation.views.invitations import invitation
from annotation.views.members import campaign_people

urlpatterns = [
    path("people", person.people, name="people"),
    path("people/<int:pk>", person.person, name="person"),
    path("people/<int:pk>/erase", person.person_erase, name="person-erase"),
    path("pools/<slug:name>/campaign/people", campaign_people, name="campaign-people"),
    path("invitations/<str:token>", invitation, name="invitation"),
    path("campaigns/<slug:pool>/consent", consent, name="consent"),
    path("audit", audit, name="audit"),
    path("account", account.account, name="account"),
    path("account/password", account.PasswordChange.as_view(), name="account-password"),
    path("account/data.json", account.account_data, name="account-data"),
    path("account/erase", account.account_erase, name="account-erase"),
    path("password/forgotten", account.Forgotten.as_view(), name="password-forgotten"),
    path("password/forgotten/sent", account.Sent.as_view(), name="password-sent"),
    path("password/new/<uidb64>/<token>", account.NewPassword.as_view(), name="password-new"),
    path("password/new/done", account.NewPasswordDone.as_view(), name="password-new-done"),
]
