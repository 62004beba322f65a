"""Build the theory sections about one model: the expected value of a metric by the strength of the model."""

from collections.abc import Callable, Sequence

import numpy as np

from evaluation.measures.rank_table import Floats
from evaluation.open_world.kernels.theory import (
    ENTITIES,
    allowed_rho,
    derivative,
    expected_metric,
    mrr_approximation,
    mrr_approximation_bound,
)
from evaluation.open_world.theory_settings import (
    METRICS,
    NO_TEST_ANSWER,
    SPARSITIES,
    TheorySettings,
    repeats_for,
    signed,
    simulated,
)
from evaluation.sections.builders import chart, series_of, table_of
from evaluation.sections.section import Cell, Chart, Column, Json, Section, Table, cell

STRENGTHS = np.linspace(0.02, 1.0, 50)
POINTS = np.linspace(0.1, 1.0, 10)  # of the simulation
CORRELATIONS = (-0.1, 0.0, 0.1, 0.2)  # the paper's figure 2
POSSIBLE = [0.0, 1.0]  # values of the metrics
NO_LOGARITHM = "the logarithm has no value where β or ℓ is 0"
STRENGTH, EXPECTED = Column("strength", "ℓ"), Column("expected", "Ê")


def theory(settings: TheorySettings) -> Section:
    """Show a metric by strength for the paper's four sparsities and the chosen one: its figure 1 (2, correlated)."""
    n, chosen = settings.n, settings.beta
    betas = sorted({*SPARSITIES, chosen})
    repeats = repeats_for(n, len(betas) * len(POINTS))
    named = {beta: f"β = {beta:g}" + (" (chosen)" if beta == chosen else "") for beta in betas}
    series, rows = _curves(settings, [(beta, settings.rho) for beta in betas], list(named.values()), repeats)
    here = float(expected_metric(n, chosen, settings.strength, settings.metric, rho=settings.rho))
    ring = series_of("these settings", [settings.strength], [here], measure=betas.index(chosen), ring=True)
    return Section(
        "theory",
        f"{settings.label}: theory against simulation",
        "The reported number against the strength of the model. Where the curve is flat, a better model hardly reports"
        " more; the sparser the test set, the flatter.",
        f"N = {n}, ρ = {signed(settings.rho)}, {ENTITIES:,} entities. Ring: these settings."
        f" {_legend(settings, repeats, settings.rho != 0)}",
        [_table(settings, "theory", "expected and simulated", Column("beta", "β"), betas, rows)],
        _chart(settings, f"{len(betas)} sparsities", [*series, ring]),
        notes=_notes(settings),
    )


def correlation(settings: TheorySettings) -> Section:
    """Show a metric by strength for the chosen sparsity and several correlations: the paper's figure 2."""
    rhos = sorted({*CORRELATIONS, settings.rho})
    repeats = repeats_for(settings.n, len(rhos) * len(POINTS))
    names = [f"ρ = {signed(rho)}" + (" (chosen)" if rho == settings.rho else "") for rho in rhos]
    series, rows = _curves(settings, [(settings.beta, rho) for rho in rhos], names, repeats)
    return Section(
        "correlation",
        f"{settings.label} when what is missing is what the model recognises",
        "Of two models of one strength, the one whose recognised answers are missing more often (larger ρ) reports"
        " less. More questions do not mend this.",
        f"N = {settings.n}, β = {settings.beta:g}. A curve is drawn where its ρ can be."
        f" {_legend(settings, repeats, correlated=True)}",
        [_table(settings, "correlation", "by correlation", Column("rho", "ρ"), rhos, rows)],
        _chart(settings, f"{len(rhos)} correlations", series),
    )


def _curves(
    settings: TheorySettings, worlds: Sequence[tuple[float, float]], names: Sequence[str], repeats: int
) -> tuple[list[Json], list[list[list[Cell]]]]:
    """Return the series of all worlds (sparsity, correlation), and the rows of each."""
    named = zip(worlds, names, strict=True)
    found = [_one_curve(settings, *world, repeats, name, i) for i, (world, name) in enumerate(named)]
    return [one for series, _ in found for one in series], [rows for _, rows in found]


def _one_curve(
    settings: TheorySettings, beta: float, rho: float, repeats: int, name: str, colour: int
) -> tuple[list[Json], list[list[Cell]]]:
    """Return the series of one world, and rows: strength, theory, logarithm or rest, simulation."""
    metric, n = settings.metric, settings.n
    levels, points = _possible(beta, STRENGTHS, rho), _possible(beta, POINTS, rho)

    def second(at: Floats) -> Floats:
        if metric == "mrr":
            return mrr_approximation(n, beta, at, rho)
        return expected_metric(n, beta, at, metric, rho=rho, entities=ENTITIES)

    thin = second(levels)
    if metric == "mrr":
        thin = np.where(thin > 0, thin, np.nan)
    series = [
        series_of(name, levels, expected_metric(n, beta, levels, metric, rho=rho), measure=colour, plain=True),
        series_of(name, levels, thin, measure=colour, thin=True),
    ]
    if not points.size:
        return series, []
    (drawn,) = simulated(n, (beta,), tuple(points.tolist()), (metric,), repeats, rho)
    mean, error, sd = drawn.mean[0], drawn.error[0], drawn.sd[0]
    series.append(series_of(f"{name}, simulated", points, mean, measure=colour, spread=2 * error, marks=True))
    known = zip(points.tolist(), expected_metric(n, beta, points, metric, rho=rho).tolist(), strict=True)
    rows: list[list[Cell]] = [
        [*own, cell(near, NO_LOGARITHM), *(cell(value, NO_TEST_ANSWER) for value in values)]
        for own, near, *values in zip(known, second(points), mean, error, sd, strict=True)
    ]
    return series, rows


def _possible(beta: float, strengths: Floats, rho: float) -> Floats:
    """Return the strengths at which a correlation is possible."""
    if rho == 0:
        return strengths
    low, high = allowed_rho(beta, strengths)
    return strengths[(low <= rho) & (rho <= high)]


def _table(
    settings: TheorySettings, key: str, title: str, first: Column, worlds: Sequence[float], rows: list[list[list[Cell]]]
) -> Table:
    columns = [
        first,
        STRENGTH,
        EXPECTED,
        Column("second", "Logarithm" if settings.metric == "mrr" else "Ê and the rest"),
        Column("simulated", "Simulated"),
        Column("error", "Standard error"),
        Column("sd", "Deviation", note="Standard deviation between questions."),
    ]
    told = [[world, *row] for world, own in zip(worlds, rows, strict=True) for row in own]
    joint = ", " if key == "theory" else " "
    return Table(key, f"{settings.label}{joint}{title}", columns, told)


def _chart(settings: TheorySettings, worlds: str, series: Sequence[Json]) -> Chart:
    label = f"{settings.label} against strength, for {worlds}"
    return chart(
        "lines", label, series, x="strength ℓ", y=settings.label, yaxis={"rangemode": "tozero"}, possible=POSSIBLE
    )


def _legend(settings: TheorySettings, repeats: int, correlated: bool) -> str:
    logarithm = f"the logarithm of Theorem {'4.3, with ρ' if correlated else '4.1'}"
    thin = logarithm if settings.metric == "mrr" else "Ê and the rest"
    return (
        f"Thick: Ê; thin: {thin}; points: the mean of {repeats:,} simulated questions ± 2 of its standard errors (the"
        " deviation between questions is in the table)."
    )


def _notes(settings: TheorySettings) -> list[str]:
    notes = []
    if settings.metric in ("log_mrr", "p_mrr"):
        notes.append(
            f"Ê leaves out what answers add that the model does not recognise. For {settings.label} that is not little;"
            " the thin curve has it."
        )
    none = settings.beta**settings.n
    if none > 0.01:
        notes.append(
            f"At β = {settings.beta:g}, {100 * none:.1f} % of the questions of {settings.n} answers have no test"
            " answer. The simulation leaves them out, Ê does not."
        )
    return notes


def approximation(settings: TheorySettings) -> Section:
    n, beta, rho = settings.n, settings.beta, settings.rho
    levels = _possible(beta, STRENGTHS, rho)
    exact, near = expected_metric(n, beta, levels, "mrr", rho=rho), mrr_approximation(n, beta, levels, rho)
    error, bound = np.abs(near - exact), mrr_approximation_bound(n, beta, levels, rho)

    def maybe(values: Floats) -> Callable[[int], Cell]:
        return lambda j: cell(values[j], NO_LOGARITHM)

    table = table_of(
        "approximation",
        "Error of the logarithm and its bound",
        range(levels.size),
        [
            (STRENGTH, lambda j: float(levels[j])),
            (EXPECTED, lambda j: float(exact[j])),
            (Column("near", "Logarithm"), maybe(near)),
            (Column("error", "Error"), maybe(error)),
            (Column("bound", "Bound"), maybe(bound)),
        ],
    )
    series = [
        series_of("error", levels, error, measure=0, plain=True),
        series_of("its bound", levels, bound, measure=1, plain=True),
    ]
    log_axis = {"type": "log", "dtick": 1, "exponentformat": "none"}
    return Section(
        "approximation",
        "How good the logarithm is",
        "Theorem 4.1 puts a logarithm of the strength in the place of Ê of MRR. Its error, and the bound that the paper"
        " proves, by strength.",
        f"N = {n}, β = {beta:g}, ρ = {signed(rho)}. MRR.",
        [table],
        chart("lines", f"{table.title}, against strength", series, x="strength ℓ", y="absolute error", yaxis=log_axis),
    )


def slopes(settings: TheorySettings) -> Section:
    """Show how much of a gain in strength each metric reports: Corollaries 4.1-4.3 and §5 of the paper."""
    found = {name: derivative(settings.n, settings.beta, STRENGTHS, name) for name in settings.metrics}
    series = [
        series_of(METRICS[name], STRENGTHS, slope, measure=i, plain=True)
        for i, (name, slope) in enumerate(found.items())
    ]
    rows = np.stack([STRENGTHS, *found.values()], axis=1).tolist()
    here = {name: float(derivative(settings.n, settings.beta, settings.strength, name)) for name in found}
    steep, flat = max(here, key=lambda name: here[name]), min(here, key=lambda name: here[name])
    columns = [STRENGTH, *(Column(name, METRICS[name]) for name in found)]
    label = "Slope of each metric against strength"
    return Section(
        "slopes",
        "Slope: how much of a gain in strength is reported",
        "1 where the metric rises as the strength does. Metrics that look at the top only fall most.",
        f"N = {settings.n}, β = {settings.beta:g}, no correlation. dÊ/dℓ.",
        [Table("slopes", "Slope by strength", columns, rows)],
        chart("lines", label, series, x="strength ℓ", y="slope dÊ/dℓ", yrange=[0, 1.05]),
        finding=""
        if here[steep] == here[flat]
        else f"At ℓ = {settings.strength:g}, 0.1 more strength is about {here[flat] / 10:.3f} more {METRICS[flat]}, and"
        f" {here[steep] / 10:.3f} more {METRICS[steep]}.",
    )
