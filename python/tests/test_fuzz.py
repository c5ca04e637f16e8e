"""Random calls: an answer or an exception of Python, never a crash."""

import os
import pickle
import random
import warnings
from typing import Any

import carom
import numpy as np

#: CAROM_FUZZ=100000 makes that many calls.
CALLS = int(os.environ.get("CAROM_FUZZ", "400"))

WORDS = ["theta", "theta'", "g", "t", "pi", "sin(", "cos(", "(", ")", "+", "-", "*", "/", "^", "2", "0", "1e308", "1e-308", ".", "'"]
WORDS += ["é", "\0", "\n", '"', "\\", "]", "[", "=", "#", "sqrt(", "abs(", "atan2(", ",", "e", "inf", "nan"]


def anything(rng: random.Random) -> Any:
    """Some value, good or bad."""
    return rng.choice(
        [
            lambda: rng.choice([0, 1, -1, 0.1, 1e-3, 2.0, 1e300, float("nan"), float("inf"), -0.0, 2**70]),
            lambda: "".join(rng.choice(WORDS) for _ in range(rng.randrange(8))),
            lambda: rng.choice([None, True, b"x", object(), [], {}, (), ["theta"], {"q": [1]}, 3 + 4j]),
            lambda: np.array(rng.choice([[], [1.0], [np.nan], [[1.0]], [1, 2]]), dtype=float),
            lambda: rng.choice(["cva", "gauss4", "auto", "svc", "rk4", "q", "v", "p", "+", "-", "final", "strobe", "energy"]),
            lambda: carom.uniform(0, 1),
        ]
    )()


def call(rng: random.Random, models: list[carom.Model], solutions: list[carom.Solution]) -> None:
    """One call with some arguments."""
    model, solution = rng.choice(models), rng.choice(solutions)
    some = lambda *names: {name: anything(rng) for name in names if rng.random() < 0.5}  # noqa: E731
    match rng.randrange(15):
        case 0:
            carom.loads(anything(rng))
        case 1:
            text = list(rng.choice(models).text)
            for _ in range(rng.randrange(4)):
                text[rng.randrange(len(text))] = rng.choice(WORDS)
            models.append(carom.loads("".join(text)))
        case 2:
            keys = ["T", "V", "L", "walls", "parameters", "initial", "forces", "outputs", "constraints", "draw", "points", "title", "until", "more"]
            models.append(carom.Model(coordinates=rng.choice([["theta"], anything(rng)]), **some(*keys)))
        case 3:
            models.append(model.set({rng.choice(["g", "initial.q[0]", "run.step", "wall[0].phi", "x.y[3]", "", "="]): anything(rng)}))
        case 4 | 5 | 6:
            options = {"until": 0.3, "step": 0.05, "method": "cva", **some("until", "step", "method", "tolerance", "every", "throw")}
            if any(isinstance(v, (int, float)) and not isinstance(v, bool) and (abs(v) > 1e3 or 0 < abs(v) < 1e-3) for v in options.values()):
                return
            options["start"] = rng.choice([None, None, solution.final, anything(rng)])
            solutions.append(model.run(**options))
        case 7:
            solution.at(rng.choice([0.1, [0.0, 0.1], anything(rng)]), **some("of", "side"))
        case 8:
            solution[rng.choice(["theta", "theta'", "energy", "H_mod", "gap_stop", anything(rng)])]
        case 9:
            pickle.loads(pickle.dumps(rng.choice([model, solution, solution.final])))
        case 10:
            model.run_many(q=rng.choice([[[0.5]], anything(rng)]), v=rng.choice([[[0.0]], anything(rng)]), t=rng.choice([[0.1], [0, 0.1], anything(rng)]))
        case 11:
            model.sweep(**{rng.choice(["g", "m", "zz"]): rng.choice([[1.0, 2.0], anything(rng)])}, until=0.1, **some("samples", "seed", "record"))
        case 12:
            rng.choice([repr, str, hash, len, model.__class__.check, lambda m: m.equations.text])(model)
        case 13:
            data = bytearray(pickle.dumps(model))
            data[rng.randrange(len(data))] = rng.randrange(256)
            # Only the text is changed: a pickle is a program.
            text = bytes(data).decode("utf-8", "ignore")
            carom.loads(text[:2000])
        case 14:
            returned = anything(rng)
            models.append(model.with_force(rng.choice([anything(rng), lambda t, q, v: -v, lambda t, q, v: returned, lambda t: t])))
    del models[8:], solutions[8:]


def test_random_calls(pendulum: carom.Model) -> None:
    rng = random.Random(7)
    models, solutions = [pendulum], [pendulum.run(until=0.3, method="cva", step=0.05)]
    counts: dict[str, int] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k in range(CALLS):
            try:
                call(rng, models, solutions)
                counts["answered"] = counts.get("answered", 0) + 1
            except (ValueError, TypeError, KeyError, OverflowError, AttributeError, carom.RunError) as error:
                counts[type(error).__name__] = counts.get(type(error).__name__, 0) + 1
                models[:], solutions[:] = models or [pendulum], solutions
    print(counts)
    assert counts["answered"] > CALLS // 20 and counts["ModelError"] > 0, counts
