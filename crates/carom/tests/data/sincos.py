"""Hard arguments of sin and cos with their values to 53 bits: python3 sincos.py > sincos.txt (needs mpmath).

Each line has x, sin x and cos x as the bits of an f64 in hexadecimal.
"""

import struct
from fractions import Fraction

from mpmath import cos, floor, mp, mpf, pi, sin

mp.prec = 1400


def bits(value):
    return f"{struct.unpack('<Q', struct.pack('<d', float(value)))[0]:016x}"


def nearest_multiples():
    """Numbers within [1, 1e6] that are very close to a multiple of pi/2: convergents of 2^k/(pi/2), and neighbours."""
    found = []
    for exponent in range(-52, -32):
        step = mpf(2) ** exponent  # the numbers in [2^(exponent+52), 2^(exponent+53)) are its multiples
        ratio = step / (pi / 2)
        p0, q0, p1, q1, rest = 0, 1, 1, 0, ratio
        while q1 < 2**53:
            whole = int(floor(rest))
            p0, q0, p1, q1 = p1, q1, whole * p1 + p0, whole * q1 + q0
            rest = 1 / (rest - whole)
            if 2**52 <= q1 < 2**53 and p1 > 0:
                found.append(float(q1 * Fraction(2) ** exponent))
            elif 0 < q1 < 2**52:
                found.append(float(q1 * (2**52 // q1 + 1) * Fraction(2) ** exponent))
    return [x for x in found if x <= 1.1e6]


def arguments():
    yield from (0.0, 1e-310, 5e-324, 1e-300, 1e-20, 1e-8, 2.0**-27, 0.5, 0.785398163397448, 0.7853981633974483, 1.0)
    for n in [1, 2, 3, 4, 5, 7, 11, 100, 999, 6366, 63661, 63662, 123457, 636619, 1000003]:
        x = float(n * pi / 2)
        yield x
        yield float(n * pi / 2 + pi / 4)
        yield struct.unpack("<d", struct.pack("<Q", int(bits(x), 16) + 1))[0]
    yield from nearest_multiples()
    yield from (999999.9999999999, 1e6, 1000000.0000000001, 1.5e6, 1e7, 1e10, 1e15, 1e22, 1e100, 1e300, 1.7e308)
    yield 6381956970095103 * 2.0**797  # the f64 nearest to a multiple of pi/2


for x in sorted({float(x) for x in arguments()}):
    print(bits(x), bits(sin(mpf(x))), bits(cos(mpf(x))))
