"""The file of the embedding model breaks off, as after a power failure, and a worker starts, while students ask and
staff edit: the worker makes the file again, and nobody notices anything."""

import sys

import pytest

from tests.faults.cluster import cluster
from tests.faults.test_faults import INDEX_TASK
from tests.runtime.processes import wait_until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc"),
]
#: A document that only the second worker is told of.
SAVE = """
from knowledge.models import Collection, Document
from knowledge.tasks import index_document
collection = Collection.objects.get(slug="rooms")
address = "https://www.uni.example/hall"
document = Document.objects.create(collection=collection, url=address, title="Hall", text="# Hall")
index_document.apply_async((document.pk,), queue="again")
"""


def test_a_worker_that_starts_with_a_broken_model_makes_it_again() -> None:
    with cluster() as stack, stack.busy() as going:
        (model,) = (stack.run.state / "models").glob("all-MiniLM-L6-v2-*.onnx")
        whole = model.read_bytes()
        broken = model.with_name("broken")
        broken.write_bytes(whole[: len(whole) // 2])
        broken.replace(model)  # what runs goes on with the file that it has opened
        with stack.second_worker("again") as second:
            stack.run.does(SAVE)
            wait_until(lambda: second.done(INDEX_TASK) > 0, 60)
        assert model.read_bytes() == whole
        answered = len(going.answered)
        wait_until(lambda: len(going.answered) > answered, 60)
    assert {one.status for one in going.answered} == {"complete"}
    assert not going.refusals()
    assert not going.editor.troubles
