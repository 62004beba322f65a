"""ConvE: a small convolutional network reads head and relation as an image."""

from pooling.systems.spec import ADAM, Setting, SystemSpec, from_pykeen, pair

DROPOUTS = ("input_dropout", "feature_map_dropout", "output_dropout")


def dropouts(image, maps, output):
    """Return the settings DROPOUTS, with presets for small graphs and, if they differ, for large ones."""
    return {
        "input_dropout": Setting(float, "share of the image that is dropped while training", 0, 0.95, *image),
        "feature_map_dropout": Setting(float, "share of the feature maps dropped while training", 0, 0.95, *maps),
        "output_dropout": Setting(float, "share of the encoder's output dropped while training", 0, 0.95, *output),
    }


def query(model, entity, relation):
    """Return the encoded image of head and relation, [B, d]."""
    import torch

    net = model.interaction
    shape = net.shape_info
    image = (-1, shape.input_channels, shape.image_height, shape.image_width)
    h, r = pair(model, entity, relation)
    x = torch.cat([h.view(image), r.view(image)], dim=2)  # [B, channels, 2·height, width]
    return net.hr1d(net.hr2d(x).flatten(1))  # -> [B, features] -> [B, d]


def features(model):
    """Return entity vectors [E, d] and the bias of each entity [E]."""
    vectors, bias = model.entity_representations
    return vectors(None), bias(None).flatten()


SPEC = SystemSpec(
    name="conve",
    label="ConvE",
    family="neural",
    description="Arranges head and relation as an image, convolves it, and compares the result with the tail.",
    source="Dettmers et al. (2018), Convolutional 2D knowledge graph embeddings, AAAI",
    formula="f(vec(f([h ; r] * ω)) W) · t + b_t, * a convolution with filters ω, f a rectifier",
    note="Trained with cross-entropy over the entities, not with a binary cross-entropy for each entity.",
    # trained on logits, so no sigmoid is applied
    build=from_pykeen("ConvE", {"output_channels": "channels", **{key: key for key in DROPOUTS}}),
    query=query,
    features=features,
    form="dot",
    small={"learning_rate": 0.003, "batch_size": 128, "epochs": 12},
    large={"embedding_dim": 128, "learning_rate": 0.003, **ADAM, "objective": "questions", "batch_size": 256},
    extra_settings={
        "channels": Setting(int, "filters of the convolution", 1, 512, 32),
        **dropouts((0.2, 0.1), (0.2, 0.1), (0.3, 0.2)),
    },
)
