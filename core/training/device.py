"""Which device a run uses, and in which precision."""

from __future__ import annotations

import os

import torch

from core.errors import UserError


def choose_device(name: str, precision: str) -> torch.device:
    """ "auto" takes CUDA, then MPS, then the CPU.

    Raises:
        UserError: the device is not there, or cannot train in that precision.
    """
    if name == "auto":
        if torch.cuda.is_available():
            name = "cuda"
        else:
            name = "mps" if torch.backends.mps.is_available() else "cpu"
    device = torch.device(name)
    if device.type == "cuda":
        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
        if (device.index or 0) >= count:
            raise UserError(
                f"Device {name} is not there: PyTorch {torch.__version__} finds {count} CUDA "
                "devices on this machine. Use --device cpu, or install a CUDA build of PyTorch."
            )
    if device.type == "mps" and not torch.backends.mps.is_available():
        raise UserError("Device mps is not there: it needs macOS on Apple silicon; use cpu.")
    if precision == "bf16" and device.type != "cuda":
        raise UserError(f"precision bf16 needs a CUDA device, not {device.type}; use fp32.")
    return device


def available_threads() -> int:
    """CPU cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
