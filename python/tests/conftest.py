"""What several tests need."""

import subprocess
import sys
from pathlib import Path

import carom
import pytest


def command(*words: str) -> subprocess.CompletedProcess[str]:
    """The command `carom` that was installed with the package."""
    program = Path(sys.executable).with_name("carom")
    return subprocess.run([str(program), *words], capture_output=True, text=True, timeout=300)


@pytest.fixture
def pendulum() -> carom.Model:
    return carom.Model(
        coordinates=["theta"],
        parameters={"m": 1, "R": 1, "g": 9.8},
        T="m*R^2*theta'^2/2",
        V="m*g*R*(1 - cos(theta))",
        walls=[carom.Wall("theta", name="stop", restitution=0.9)],
        initial={"q": ["pi/3"], "v": [0]},
        until=5,
    )
