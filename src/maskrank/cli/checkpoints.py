"""``--checkpoint`` and ``--resume``."""

from __future__ import annotations


def check_folder(checkpoint: str | None, *, resume: bool) -> None:
    """Refuse a folder that holds an earlier run, unless it is to be resumed."""
    if checkpoint is None:
        if resume:
            raise ValueError("--resume goes with --checkpoint, which names the folder to continue from")
        return
    from maskrank.estimators.checkpoints import stored_identity

    if not resume and stored_identity(checkpoint) is not None:
        raise ValueError(f"checkpoint {checkpoint} holds an earlier run: --resume continues it, or give another folder")
