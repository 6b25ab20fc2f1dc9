"""[Kuo2016] (22)-(24) derived again from the velocity of a section of a beam that turns."""

import sympy


def test_terms_of_the_kinetic_energy():
    """(V + omega x (x + u) + du/dt)^2 / 2, sorted by u and du/dt; integrals and rho A left out."""
    x = sympy.Symbol("x")
    V = sympy.Matrix(sympy.symbols("V_x V_y V_z"))
    omega = sympy.Matrix(sympy.symbols("w_x w_y w_z"))
    bent = sympy.Matrix(sympy.symbols("u v w"))
    rate = sympy.Matrix(sympy.symbols("u_t v_t w_t"))
    velocity = V + omega.cross(sympy.Matrix([x, 0, 0]) + bent) + rate
    energy = sympy.expand(velocity.dot(velocity) / 2)
    still = dict.fromkeys([*bent, *rate], 0)
    wx, wy, wz = omega

    # (24), Y_e: the first bracket belongs to u, and both products have a minus
    found = [sympy.diff(energy, each).subs(still) for each in bent]
    right = [
        wz * V[1] - wy * V[2] + (wy**2 + wz**2) * x,
        wx * V[2] - wz * V[0] - wx * wy * x,
        wy * V[0] - wx * V[1] - wx * wz * x,
    ]
    assert [sympy.expand(a - b) for a, b in zip(found, right, strict=True)] == [0, 0, 0]

    # (22), M_s: as printed
    u, v, w = bent
    assert sympy.diff(energy, u, v) == -wx * wy
    assert sympy.diff(energy, u, w) == -wx * wz
    assert sympy.expand(sympy.diff(energy, u, 2) - wy**2 - wz**2) == 0

    # (23), B_e: rate' [omega x] bent, so that u_t v enters with -omega_z, printed with a plus
    assert sympy.diff(energy, rate[0], v) == -wz
    assert sympy.diff(energy, rate[1], u) == wz
