"""What a run computes on and in which numbers: device, threads, precision."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from core.device import available_threads, choose_device
from core.errors import UserError
from core.model.measuring import best_choice
from core.model.product import choose
from core.model.product_choice import UNMEASURED, ProductChoice
from core.training.config import RunConfig, TrainingConfig
from core.training.estimate import parameter_count
from core.training.tensorboard import require_tensorboard
from core.training.workers import Workers


@contextmanager
def told_if_too_large(config: RunConfig) -> Iterator[None]:
    """Raise a UserError instead of torch's own error for a model that does not fit into memory."""
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if isinstance(error, RuntimeError) and "memory" not in str(error):
            raise
        raise UserError(
            f"A model of {parameter_count(config.model):,} parameters does not fit into memory "
            "on this machine; make the model or its vocabulary smaller."
        ) from error


def settle(config: RunConfig, workers: Workers, products: ProductChoice | None = None) -> RunConfig:
    """Replace "auto" and None by the device and threads that will be used, and start using them.

    Args:
        products: the kernels of matrix products that the run began with; None to choose them.

    Raises:
        UserError: the device is not there, or cannot compute in this precision, or the package for
            TensorBoard is missing, or this build of torch lacks the kernel that is asked for.
    """
    training = config.training
    device = choose_device(training.device)
    workers.claim(device)
    if training.precision == "fp16" and device.type != "cuda":
        raise UserError(f"precision fp16 needs a CUDA device, not {device}; use fp32.")
    if training.precision == "bf16" and device.type == "mps":
        raise UserError("precision bf16 needs a CUDA device or the CPU, not mps; use fp32.")
    if training.precision == "fp64" and device.type == "mps":
        raise UserError("precision fp64 is not available on mps; use fp32 or device cpu.")
    if training.tensorboard:
        require_tensorboard()
    if device.type == "cuda":
        torch.set_float32_matmul_precision("high" if training.tf32 else "highest")
    limit = training.threads or max(1, available_threads() // workers.local_count)
    torch.set_num_threads(limit)
    if products is None:
        # There is nothing to choose on other devices.
        products = best_choice(training.product) if device.type == "cpu" else UNMEASURED
    choose(products)
    threads = training.threads or products.training_threads or limit
    torch.set_num_threads(threads)
    return dataclasses.replace(
        config, training=dataclasses.replace(training, device=str(device), threads=threads)
    )


def dtype(training: TrainingConfig) -> torch.dtype:
    """Return the type of the weights; "bf16" and "fp16" are those of products only."""
    return torch.float64 if training.precision == "fp64" else torch.float32
