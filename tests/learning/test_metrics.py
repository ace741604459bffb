"""A resumed run's metrics have no gap and no repetition."""

import json

from main_jax.learning.metrics import MetricsLog


def rows(workdir):
    return [json.loads(line) for line in (workdir / "metrics.jsonl").read_text().splitlines()]


def test_resume_drops_what_came_after_the_checkpoint(tmp_path):
    log = MetricsLog(tmp_path, 0)
    for timesteps in (10, 20, 30):
        log.write("train", timesteps, {"loss": float(timesteps)})
    log.close()
    with (tmp_path / "metrics.jsonl").open("a") as file:
        file.write('{"kind": "train", "timest')  # killed in the middle of a line
    log = MetricsLog(tmp_path, 20)
    log.write("train", 30, {"loss": 3.5})
    log.close()
    assert [(row["timesteps"], row["loss"]) for row in rows(tmp_path)] == [
        (10, 10.0),
        (20, 20.0),
        (30, 3.5),
    ]
    assert list((tmp_path / "tensorboard").iterdir())
