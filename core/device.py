"""Which device tensors live on, by the names that commands and configurations use."""

from __future__ import annotations

import os

import torch

from core.errors import UserError


def choose_device(name: str) -> torch.device:
    """Return the device of a name: "auto" is CUDA where available, else MPS, else the CPU; other
    names are torch's.

    Raises:
        UserError: there is no such device, or it is not there.
    """
    if name == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise UserError(
            f"There is no device {name!r}; use auto, cpu, cuda, cuda:N or mps."
        ) from error
    if device.type == "cuda":
        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
        if (device.index or 0) >= count:
            raise UserError(
                f"Device {name} is not there: PyTorch {torch.__version__} finds {count} CUDA "
                "devices on this machine. Use --device cpu, or install a CUDA build of PyTorch."
            )
    elif device.type == "mps":
        if not torch.backends.mps.is_available():
            raise UserError("Device mps is not there: it needs macOS on Apple silicon; use cpu.")
    elif device.type != "cpu":
        raise UserError(f"Device {name} is not supported; use auto, cpu, cuda, cuda:N or mps.")
    return device


def available_threads() -> int:
    """Return the number of CPU cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
