"""Say what families of seeds a page shows, which systems are no family, and whether intervals draw seeds."""

from evaluation.sections.section import Context

NO_FAMILY = "No system of this pool has several seeds, so every system is shown by itself."
IDLE = "Training variance is left out of the intervals:"


def seed_notes(context: Context, *, asked: bool = True) -> list[str]:
    """Return notes on the settings `seeds` and `training`; none where both are left as they are.

    `asked`: somebody chose families of seeds, and is told where there are none.
    """
    notes, settings = [], context.settings
    if settings.by_family:
        notes += [_families(context)] if context.is_folded else [NO_FAMILY] * asked
        notes += context.each.table.unlike
    if settings.training == "drawn" and context.drawn_families is None:
        has_any = len(context.each.table.families) < len(context.each.systems)
        why = "show families of seeds to have it." if has_any else "no system has several seeds."
        notes.append(f"{IDLE} {why}")
    return notes


def _families(context: Context) -> str:
    several = {name: seeds for name, seeds in context.seeds_of.items() if len(seeds) > 1}
    told = [f"{name} of {len(seeds)} ({', '.join(seeds)})" for name, seeds in several.items()]
    return (
        f"Each family of seeds is shown by its best seed in validation: {'; '.join(told)}. Brackets with ± hold mean"
        " and standard deviation over its seeds."
    )


def draws_seeds(context: Context) -> str:
    """Return the sentence that a caption of intervals has where they hold the variance of training; else ""."""
    return " Each resample also draws one seed of each family: training variance." if context.drawn_families else ""
