"""Whether a run did worse than the one before it, by more than chance."""

from analytics.evaluation.comparing import TESTED, compare
from analytics.models import EvaluationRun

#: A difference that chance alone makes less often than this is taken for one; of the paired test, after its correction
#: for several measures.
SIGNIFICANT = 0.05


def mark_regression(run: EvaluationRun) -> None:
    """Notes in the results of a finished run in which measures it is worse than the last finished run of its profile
    on its set, question by question; nothing where there is none."""
    earlier = EvaluationRun.objects.filter(
        evaluation_set=run.evaluation_set_id, profile=run.profile, state=EvaluationRun.State.FINISHED, pk__lt=run.pk
    )
    before = earlier.order_by("-pk").first()
    if before is None:
        return
    comparison = compare(before, run)
    old, new = comparison.means
    worse = [name for name in TESTED if comparison.p_values.get(name, 1) < SIGNIFICANT and new[name] < old[name]]
    run.results["regression"] = {"before": before.pk, "worse": worse}
    run.save(update_fields=["results"])
