/* One uniform beam at a circular frequency, in relative coordinates, and its clamped-clamped count.

   Unknowns of a beam: the motion u0 of its root and the deformation d of its end, so that the end
   moves by X u0 + d, X the rigid transport over the length. Relative coordinates keep full accuracy
   on slender beams, and a deformation that a theory excludes is simply left out of d.

   Everything is written in tau(y) = tan(sqrt y) / sqrt y, analytic through y = 0 (tanh below), so
   that nothing overflows and nothing special happens at omega_lim. Symmetric and antisymmetric
   halves of the beam (a = L/2) give 2 x 2 closed forms. See docs/theory/dynamic-stiffness.md. */

#ifndef SUPPLE_BEAM_H
#define SUPPLE_BEAM_H

#include <math.h>
#include <stdint.h>

#define PI 3.14159265358979323846

enum { ACTIVE_U = 1, ACTIVE_XY = 2, ACTIVE_XZ = 4, ACTIVE_PHI = 8 };

typedef struct {
    double m, EA, EI[2], shear[2], GJ, rI[2], rIp; /* shear = 1 / kGA, zero without shear */
    unsigned active;                               /* which deformations are allowed */
} Beam;

/* (sin x - x cos x) / x^3 with y = x^2, an entire function of y; |y| < 1. */
static double sine_remainder(double y)
{
    static const double c[] = {1.0 / 3, -1.0 / 30, 1.0 / 840, -1.0 / 45360, 1.0 / 3991680,
                               -1.0 / 518918400.0, 1.0 / 93405312000.0, -1.0 / 22230464256000.0};
    double sum = c[7];
    for (int k = 6; k >= 0; --k)
        sum = sum * y + c[k];
    return sum;
}

typedef struct {
    double tau, less; /* tau(y) and tau(y) - 1, the latter to full relative accuracy */
    double c;         /* cos(sqrt y), or 1 for y <= 0: the factor that removes the poles */
    int64_t quarter;  /* floor(sqrt(y) / (pi/2)), consistent with the sign of tau */
} Tangent;

/* Index of the interval [k w, (k+1) w) that holds x, made to agree with a parity known exactly. */
static int64_t interval_index(double x, double w, int odd)
{
    int64_t k = (int64_t)floor(x / w);
    if ((k & 1) != odd)
        k += (x - (double)k * w < 0.5 * w) ? -1 : 1;
    return k;
}

static Tangent tangent(double y)
{
    Tangent t = {1.0, 0.0, 1.0, 0};
    if (y > 0) {
        double x = sqrt(y), s = sin(x);
        t.c = cos(x);
        t.tau = s / (x * t.c);
        t.less = y < 0.5 ? y * sine_remainder(y) / t.c : t.tau - 1.0;
        t.quarter = interval_index(x, 0.5 * PI, (s < 0) != (t.c < 0));
    } else {
        double x = sqrt(-y);
        if (y > -0.5) {
            t.less = y * sine_remainder(y) / cosh(x);
            t.tau = 1.0 + t.less;
        } else {
            double e = x < 20 ? exp(-2 * x) : 0.0;
            t.tau = (1 - e) / ((1 + e) * x);
            t.less = t.tau - 1.0;
        }
    }
    return t;
}

/* Where a beam's stiffness stands to its poles, the clamped-clamped frequencies: the clamped
   determinant, free of poles and 1 at rest; and how near the nearest pole is, as what is left of
   the terms that cancel there over their sum. */
typedef struct {
    double norm, distance;
} Pole;

static void approach(Pole *pole, double norm, double distance)
{
    pole->norm *= norm;
    if (distance < pole->distance)
        pole->distance = distance;
}

/* Bending in one plane: k holds the upper triangle over (v, psi, d_v, d_psi), row by row.
   Returns the clamped-clamped count. */
static int64_t bending(double w2, double L, double m, double EI, double shear, double rI,
                       double k[10], Pole *pole)
{
    double a = 0.5 * L;
    double vv = 0, vp = 0, pp = EI / a, rr = 0, re = 0, ee = 1.0 / (a * shear + a * a * a / (3 * EI));
    int64_t J0 = 0;
    double q = w2 * m / EI;
    if (q > 0) {
        double b2 = w2 * m * shear, r = w2 * rI / EI, rho = w2 * rI * shear;
        double h = 0.5 * (r - b2), disc = sqrt(h * h + q);
        double up = h >= 0 ? disc + h : q / (disc - h); /* S2 - b2 */
        double down = q / up;                           /* b2 - S1 */
        double S2 = b2 + up, p = q * (1.0 - rho), S1 = -p / S2, dS = 2 * disc;
        Tangent t1 = tangent(S1 * a * a), t2 = tangent(S2 * a * a);
        double tt = t1.tau * t2.tau, cross = S2 * t2.less - S1 * t1.less, dl = t2.less - t1.less;
        double ds = up * t2.tau + down * t1.tau;
        double da = b2 * (dS + cross) + p * dl;
        double f = w2 * m;
        vv = -f * a * tt * dS / ds;
        vp = f * dl / ds;
        pp = EI * dS / (a * ds);
        ee = f * dS / (a * da);
        re = -f * cross / da;
        rr = f * a * (dS * (t1.less * t2.less - rho * tt) - (b2 + r) * dl) / da;
        int64_t pinned = t2.quarter + (S1 > 0 ? 1 + t1.quarter : 0);
        J0 = pinned - (pp < 0) - (tt * p / da < 0);
        double c = t1.c * t2.c;
        double terms = fabs(b2 * dS) + fabs((b2 * S2 + p) * t2.less) + fabs((b2 * S1 + p) * t1.less);
        approach(pole, fabs(ds * c / dS), fabs(ds) / (fabs(up * t2.tau) + fabs(down * t1.tau)));
        approach(pole, fabs(da * c / (dS * (b2 + a * a * q / 3))), fabs(da) / terms);
    }
    k[0] = 2 * vv;
    k[1] = 2 * a * vv;
    k[2] = vv;
    k[3] = vp;
    k[4] = 2 * (a * a * vv + rr);
    k[5] = a * vv + re;
    k[6] = a * vp + rr - a * re;
    k[7] = 0.5 * (vv + ee);
    k[8] = 0.5 * (vp + re - a * ee);
    k[9] = 0.5 * (pp + rr + a * a * ee) - a * re;
    return J0;
}

/* Axial motion or torsion: k holds (root root), (root d), (d d). */
static int64_t rod(double w2, double L, double EA, double m, double k[3], Pole *pole)
{
    double x = L * sqrt(w2 * m / EA), s = sin(x), c = cos(x);
    double half = c < 0 ? (1 - c) / s : s / (1 + c); /* tan(x / 2) */
    k[1] = -EA / L * x * half;
    k[0] = 2 * k[1];
    k[2] = x > 0 ? EA / L * x * c / s : EA / L;
    if (x > 0)
        approach(pole, fabs(s / x), x < 1 ? 1.0 : fabs(s));
    return interval_index(x, PI, s < 0);
}

#endif
