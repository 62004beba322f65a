"""InteractE's scores are those of its layers written as loops, and its chequerboards are chequered."""

import numpy as np
import pytest
import torch

from pooling.systems import get_model, resolve_settings
from pooling.systems.interacte import chequer
from tests.pooling.systems.networks import assert_resumes, assert_scores, network


def normalised(x, layer):
    """Batch normalisation of an array whose first axis is the channel."""
    mean, var, scale, shift = (
        p.double().numpy().reshape(-1, *[1] * (x.ndim - 1))
        for p in (layer.running_mean, layer.running_var, layer.weight.detach(), layer.bias.detach())
    )
    return (x - mean) / np.sqrt(var + layer.eps) * scale + shift


def circular(image, kernel):
    """Each cell's neighbourhood on the torus, weighted by the kernel and added up."""
    rows, columns = image.shape
    middle = len(kernel) // 2
    out = np.zeros_like(image)
    for i, j in np.ndindex(image.shape):
        for a, b in np.ndindex(kernel.shape):
            out[i, j] += kernel[a, b] * image[(i + a - middle) % rows, (j + b - middle) % columns]
    return out


@pytest.mark.parametrize("kernel", [3, 5])
def test_scores_literal(kernel):
    model = network("interacte", rows=4, permutations=2, filters=3, kernel=kernel)
    v = {key: value.detach().double().numpy() for key, value in (*model.vectors.items(), *model.others.items())}
    cells, nets = model.constants["cells"].numpy(), model.nets
    linear = nets["after"][0]

    def score(entity, relation):
        pair = np.concatenate([v["entity"][entity], v["relation"][relation]])
        images = normalised(pair[cells], nets["before"][0])
        maps = np.array([circular(image, f[0]) for image in images for f in v["filters"]])
        flat = np.maximum(normalised(maps, nets["maps"][0]), 0).ravel()
        encoded = linear.weight.detach().double().numpy() @ flat + linear.bias.detach().double().numpy()
        return v["entity"] @ np.maximum(normalised(encoded, nets["after"][2]), 0) + v["bias"]

    assert_scores("interacte", model, score)


def test_chequer_neighbours_of_other_kind():
    cells = chequer(24, 6, 3).numpy()
    assert cells.shape == (3, 6, 8)
    assert all(sorted(image.ravel()) == list(range(48)) for image in cells)
    assert len({tuple(image.ravel()) for image in cells}) == 3
    for axis in (1, 2):  # around the torus
        assert ((cells < 24) != (np.roll(cells, 1, axis) < 24)).all()


def test_chequer_same_for_every_seed():
    """The permutations are no weights: a checkpoint does not hold them, a trained model meets them again."""
    before = torch.random.get_rng_state()
    assert torch.equal(chequer(16, 4, 2), chequer(16, 4, 2))
    assert torch.equal(torch.random.get_rng_state(), before)


def test_factors_head_relation_answer():
    model = network("interacte")
    v = model.vectors
    found = get_model("interacte").factors(model, torch.tensor([4]), torch.tensor([3]), torch.tensor([5]))
    for factor, expected in zip(found, (v["entity"][4], v["relation"][3], v["entity"][5]), strict=True):
        assert torch.equal(factor[0], expected)


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"embedding_dim": 63}, "embedding_dim is 63: InteractE lays it out in rows × columns, and 8 rows do not"),
        ({"kernel": 4}, "kernel is 4: InteractE needs an odd number"),
        ({"embedding_dim": 8, "kernel": 7}, "kernel is 7: it would wrap around an image of 8 × 2 cells"),
    ],
)
def test_settings_refused(overrides, message):
    with pytest.raises(ValueError, match=message):
        resolve_settings("interacte", 10, 10, overrides)


def test_resumed_equals_uninterrupted(tmp_path):
    assert_resumes("interacte", tmp_path)
