from __future__ import annotations

import json
from dataclasses import asdict

from maskrank.core.recorder import Callback, History, Progress, Recorder


class Listener(Callback):
    def __init__(self) -> None:
        self.heard: list[object] = []

    def __call__(self, progress: Progress) -> None:
        self.heard.append((progress.phase, progress.batch))

    def on_stage(self, stage: str) -> None:
        self.heard.append(stage)

    def on_fact(self, fact: str) -> None:
        self.heard.append(f"found: {fact}")

    def on_share(self, what: str, done: float) -> None:
        self.heard.append((what, done))


def test_a_callback_hears_stages_facts_and_progress_in_order() -> None:
    listener = Listener()
    recorder = Recorder(100, [listener])
    with recorder.stage("propose"):
        recorder.share("pairs", 0.5)
        recorder.found("nothing")
        recorder.covered("looked at few")
    recorder.begins("explore")
    recorder.step("explore", 8, 0.5, 0.1)
    expected = ["propose", ("pairs", 0.5), "found: nothing", "found: looked at few", "explore", ("explore", 8)]
    assert listener.heard == expected


def test_a_plain_function_hears_progress_and_a_silent_callback_nothing() -> None:
    heard: list[Progress] = []
    recorder = Recorder(100, [heard.append, Callback()])
    with recorder.stage("propose"):
        recorder.found("nothing")
    recorder.step("explore", 8, 0.5, 0.1)
    recorder.validated(0.7)
    recorder.step("search", 8, 0.4, 0.1, (1, 2))
    assert [(p.phase, p.batch, p.max_batches, p.validation, p.optimal) for p in heard] == [
        ("explore", 8, 100, None, ()),
        ("search", 16, 100, 0.7, (1, 2)),
    ]


def test_the_history_keeps_what_changed_and_comes_back_from_json() -> None:
    recorder = Recorder(100)
    with recorder.stage("propose"):
        recorder.found("one pair")
    for optimal in ((1, 2), (1, 2), (1, 3)):
        recorder.step("search", 8, 0.4, 0.1, optimal)
    recorder.history.add_optimal((1, 3))
    recorder.history.add_optimal((0, 3))
    history = recorder.history
    assert history.optimal == [(8, (1, 2)), (24, (1, 3)), (24, (0, 3))]
    assert history.batches == {"search": 24}
    assert set(history.seconds) == {"propose", "search"}
    assert history.facts == ["one pair"]
    document = json.loads(json.dumps(asdict(history)))
    assert History.from_dict(document) == history
    del document["coverage"]  # as in a model of before
    assert History.from_dict(document) == history
