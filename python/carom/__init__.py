"""carom simulates mechanical systems that hit things, and keeps the structure of mechanics while it does so.

>>> import carom
>>> m = carom.load("double-pendulum")
>>> sol = m.run(until=8)
>>> sol.impacts.t
"""

from . import _carom
from ._analysis import Answer, Derivatives, Exponents
from ._build import Constraint, Wall
from ._equations import Equations
from ._errors import CaromWarning, ModelError, RunError
from ._load import examples, from_urdf, load, loads
from ._model import Model
from ._solution import Account, Crossings, Impacts, Picture, Solution, State
from ._sweep import Distribution, Ensemble, Sweep, normal, sobol, uniform
from ._sympy import from_sympy
from ._table import Table

__version__: str = _carom.__version__

__all__ = [
    "Account",
    "Answer",
    "CaromWarning",
    "Constraint",
    "Crossings",
    "Derivatives",
    "Distribution",
    "Ensemble",
    "Equations",
    "Exponents",
    "Impacts",
    "Model",
    "ModelError",
    "Picture",
    "RunError",
    "Solution",
    "State",
    "Sweep",
    "Table",
    "Wall",
    "__version__",
    "examples",
    "from_sympy",
    "from_urdf",
    "load",
    "loads",
    "normal",
    "sobol",
    "uniform",
]
