"""Make the optimiser of a training: Adam, Adagrad or Adamax."""

from typing import Any

import torch

from pooling.systems.spec import CommonSettings

# Copies of the weights that each keeps between two steps
STATES = {"adam": 2, "adagrad": 1, "adamax": 2}


def make_optimizer(model: Any, settings: CommonSettings, device: str) -> torch.optim.Optimizer:
    """Return the optimiser that the settings name, over all weights; fused into one pass where torch can."""
    rate, parameters = settings["learning_rate"], model.parameters()
    if settings["optimizer"] == "adagrad":
        return torch.optim.Adagrad(parameters, lr=rate, fused=device == "cpu" or None)
    if settings["optimizer"] == "adamax":
        return torch.optim.Adamax(parameters, lr=rate)
    return torch.optim.Adam(parameters, lr=rate, fused=True)
