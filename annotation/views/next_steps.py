"""What a manager does next in a campaign: what stops the work first, then what waits, then what could be better."""

from typing import NamedTuple

from django.urls import reverse

from annotation.campaigns.outlook import Outlook
from annotation.campaigns.overview import Overview
from annotation.campaigns.trend import Trend, is_stalled
from annotation.enums import CampaignState, ItemState
from annotation.labelling.training import trainees
from annotation.models import Campaign
from annotation.quality.reports import GroupAgreement
from annotation.release.next_batch import stop_reason


class Step(NamedTuple):
    """What a manager does next."""

    key: str
    text: str
    label: str = ""
    url: str = ""
    is_warning: bool = False


def next_steps(
    campaign: Campaign, counts: Overview, people: Outlook, course: Trend, weak: GroupAgreement | None
) -> list[Step]:
    """Return what to do next; what stops the work comes first."""
    pool = campaign.pool.name
    add = ("Add people", reverse("campaign-people", args=[pool]))
    write = ("See people", reverse("campaign-people", args=[pool]))
    steps = []
    if campaign.state != CampaignState.CLOSED and counts.left:
        if people.annotators < 2:
            key, whom = ("add-annotator", "another annotator") if people.annotators else ("add-two", "two annotators")
            steps.append(Step(key, f"Add {whom}: each item needs labels by two people.", *add))
        elif people.stuck:
            items, them = ("1 item", "it") if people.stuck == 1 else (f"{people.stuck:,} items", "them")
            why = f"everybody here has labelled {them}, or sent it back. Add an annotator."
            steps.append(Step("stuck-items", f"{items} cannot be finished: {why}", *add, True))
    if campaign.state != CampaignState.CLOSED and counts.disputed:
        if not people.adjudicators:
            text = f"{_disputes(counts.disputed)} for an adjudicator, and there is none."
            steps.append(Step("add-adjudicator", text, *add))
        elif people.stuck_disputes:
            them = "it" if people.stuck_disputes == 1 else "them"
            why = f"every adjudicator has labelled {them}. Add an adjudicator."
            steps.append(Step("stuck-disputes", f"{_disputes(people.stuck_disputes)} in vain: {why}", *add, True))
    if is_stalled(campaign, counts.left, course.last) and people.annotators >= 2:
        last = f"The last label came on {course.last:%-d %B}" if course.last else "No label has come in yet"
        steps.append(Step("stalled", f"{last}, and {counts.left:,} are left. Write to the people here.", *write, True))
    if stuck := _stuck_in_training(campaign):
        who = f"{stuck[0]} waits" if len(stuck) == 1 else f"{len(stuck)} people wait"
        text = f"{who} for you: the training has no other items left. Let them through, or add gold items."
        steps.append(Step("training", text, "See training", f"{reverse('checks', args=[pool])}#training", True))
    if counts.reports:
        wait = "1 report waits" if counts.reports == 1 else f"{counts.reports:,} reports wait"
        steps.append(Step("reports", f"{wait} for an answer.", "Answer reports", reverse("inbox", args=[pool])))
    if counts.disputed and people.adjudicators and not people.stuck_disputes and campaign.state != CampaignState.CLOSED:
        text, disputes = f"{_disputes(counts.disputed)} for adjudication.", reverse("campaign-triples", args=[pool])
        steps.append(Step("disputes", text, "See disputes", f"{disputes}?state={ItemState.DISPUTED}"))
    if weak is not None:
        raw = weak.agreement.raw
        low, high = raw.interval or (0.0, 1.0)
        text = f"People agree less on {weak.name} than elsewhere: on {raw.value:.0%} of {raw.n:,} items"
        text = f"{text} (95 %: {low:.0%} to {high:.0%}). Make its wording or the guidelines clearer."
        steps.append(Step("agreement", text, "See agreement", reverse("quality", args=[pool])))
    if counts.unreleased and not counts.left:
        text = f"All that is released is judged or in hand; {counts.unreleased:,} triples are not released yet."
        text = f"{text} {stop_reason(campaign)}".strip()
        steps.append(Step("release", text, "See the order", reverse("campaign-order", args=[pool])))
    elif not counts.left and not counts.disputed:
        done = ("All items are judged.", "See the evaluation", reverse("evaluation", args=[pool]))
        steps.append(Step("evaluation", *done))
    return steps


def _disputes(n: int) -> str:
    return "1 dispute waits" if n == 1 else f"{n:,} disputes wait"


def _stuck_in_training(campaign: Campaign) -> list[str]:
    """Return the names of people who cannot go on by themselves; nobody where there is no training."""
    if not campaign.training_items or campaign.state == CampaignState.CLOSED:
        return []
    return [trainee.person.username for trainee in trainees(campaign) if trainee.is_stuck]
