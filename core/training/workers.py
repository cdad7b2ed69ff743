"""The processes that train one model together, one a device, as torchrun starts them.

All of them hold the model and the same plan of batches. Of the batches of an update each takes its
share; what they find is summed over all, never averaged, and divided once by all the tokens, so
that the update is that of one process with as many batches.
"""

from __future__ import annotations

import datetime
import os
import platform
import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, NoReturn, TypeVar

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from core.errors import UserError

PATIENCE = datetime.timedelta(hours=1)
"""How long a process waits for the others, at most."""

T = TypeVar("T")


class ToldElsewhereError(UserError):
    """An error that the first process reports to the user, so that this one need not."""


@dataclass(frozen=True, slots=True)
class Workers:
    """Process ``rank`` of ``count``, and ``local_rank`` of the ``local_count`` on this machine.

    A process that is alone communicates with nobody. Otherwise every process must call the same
    methods in the same order.
    """

    rank: int = 0
    count: int = 1
    local_rank: int = 0
    local_count: int = 1

    @property
    def first(self) -> bool:
        """Return whether this process writes the files and reports the events."""
        return self.rank == 0

    def claim(self, device: torch.device) -> None:
        """Make this process's own CUDA device the one that "cuda" means.

        Raises:
            UserError: the machine has fewer devices than processes, or ``device`` cannot be shared
                out.
        """
        if self.count == 1 or device.type == "cpu":
            return
        if device.type != "cuda" or device.index is not None:
            raise UserError(
                f"Each of the {self.count} processes needs a device of its own; use cuda or cpu, "
                f"not {device}."
            )
        available = torch.cuda.device_count()
        if self.local_count > available:
            raise UserError(
                f"{self.local_count} processes on this machine need as many CUDA devices, but "
                f"PyTorch finds {available}; start fewer with --nproc-per-node."
            )
        torch.cuda.set_device(self.local_rank)

    def sum(self, *values: float) -> tuple[float, ...]:
        """Return each value summed over the processes."""
        if self.count == 1:
            return values
        total = torch.tensor(values, dtype=torch.float64)
        dist.all_reduce(total)
        return tuple(total.tolist())

    def any(self, wish: bool) -> bool:
        """Return whether one of the processes requests it."""
        return self.sum(wish)[0] > 0

    def gather(self, value: T) -> list[T]:
        """Return the values of all processes, in the order of their ranks."""
        if self.count == 1:
            return [value]
        values: list[Any] = [None] * self.count
        dist.all_gather_object(values, value)
        return values

    def broadcast(self, value: T) -> T:
        """Return the value of the first process."""
        if self.count == 1:
            return value
        values: list[Any] = [value]
        dist.broadcast_object_list(values, src=0)
        first: T = values[0]
        return first

    @contextmanager
    def agreed(self) -> Iterator[None]:
        """Make what fails inside in one process fail in all; nothing inside may communicate.

        Raises:
            UserError: in the first process, the failure of the lowest rank; its own as it is.
            ToldElsewhereError: in the others.
        """
        own: UserError | None = None
        try:
            yield
        except UserError as error:
            own = error
        where = "" if self.first else f" (process {self.rank} on {platform.node()})"
        for failure in self.gather(None if own is None else f"{own}{where}"):
            if own is not None and self.first:
                raise own
            if failure is not None:
                raise self.error(failure) from own

    def error(self, message: str) -> UserError:
        """Return the error to raise in every process; the first one reports it to the user."""
        return UserError(message) if self.first else ToldElsewhereError(message)

    def require_same(self, value: Any, what: str) -> None:
        """Raise a UserError unless ``value`` is the same in all processes."""
        values = self.gather((platform.node(), value))
        for rank, (machine, other) in enumerate(values):
            if other != values[0][1]:
                raise self.error(
                    f"Process {rank} on {machine} has different {what} from process 0 on "
                    f"{values[0][0]}; make them the same."
                )

    def parallel(self, module: nn.Module) -> nn.Module:
        """Return the module with the first process's weights; its gradients are averaged as they
        arrive."""
        if self.count == 1:
            return module
        return DistributedDataParallel(
            module, broadcast_buffers=False, gradient_as_bucket_view=True
        )


ALONE = Workers()


@contextmanager
def joined(environment: Mapping[str, str] = os.environ) -> Iterator[Workers]:
    """Connect the processes that torchrun started while inside; without torchrun, this one alone.

    Tensors on CUDA devices travel by NCCL, all else by gloo.

    Raises:
        UserError: the others cannot be reached, at the start or later.
    """
    workers = _workers(environment)
    if workers.count == 1:
        yield workers
        return
    backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
    try:
        dist.init_process_group(backend, timeout=PATIENCE)
    except (RuntimeError, ValueError) as error:
        raise UserError(
            f"Process {workers.rank} of {workers.count} cannot reach the others: {error}"
        ) from error
    try:
        yield workers
        workers.sum(0)  # nobody leaves before the others are done
    except RuntimeError as error:
        if not _is_lost_connection(error):
            raise
        raise workers.error(
            "Another process of this run has ended or can no longer be reached; resume the run "
            "from its last checkpoint."
        ) from error
    finally:
        dist.destroy_process_group()


def leave(code: int) -> NoReturn:
    """End this process, one of several, immediately and without Python's own shutdown.

    DistributedDataParallel keeps the threads of gloo beyond the group's end. A thread that lets go
    of a tensor while Python ends wants its lock, is ended for it, and aborts the process.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def unsynchronised(module: nn.Module) -> AbstractContextManager[None]:
    """Keep the gradients of a ``parallel`` module in the process that computed them while
    inside."""
    if isinstance(module, DistributedDataParallel):
        unsynced: AbstractContextManager[None] = module.no_sync()
        return unsynced
    return nullcontext()


def _workers(environment: Mapping[str, str]) -> Workers:
    if "RANK" not in environment or "WORLD_SIZE" not in environment:
        return Workers()
    rank, count = int(environment["RANK"]), int(environment["WORLD_SIZE"])
    return Workers(
        rank=rank,
        count=count,
        local_rank=int(environment.get("LOCAL_RANK", rank)),
        local_count=int(environment.get("LOCAL_WORLD_SIZE", count)),
    )


def _is_lost_connection(error: RuntimeError) -> bool:
    return isinstance(error, dist.DistError) or "gloo" in str(error)
