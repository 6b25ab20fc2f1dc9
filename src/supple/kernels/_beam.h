/* One uniform beam at a circular frequency, in relative coordinates, and its clamped-clamped count.

   Unknowns of a beam: the motion u0 of its root and the deformation d of its end, so that the end
   moves by X u0 + d, X the rigid transport over the length. Relative coordinates keep full accuracy
   on slender beams, and a deformation that a theory excludes is simply left out of d.

   Everything is written in tau(y) = tan(sqrt y) / sqrt y, analytic through y = 0 (tanh below), so
   that nothing overflows and nothing special happens at omega_lim. Symmetric and antisymmetric
   halves of the beam (a = L/2) give 2 x 2 closed forms. See docs/theory/dynamic-stiffness.md.

   Included once for every width LANES: a lane is a beam at a frequency and a length of its own. */

/* (sin x - x cos x) / x^3 and cos x with y = x^2, entire functions of y; |y| < 1. */
ALWAYS_INLINE VD LN(sine_remainder)(VD y)
{
    return 1.0 / 3 + y * (-1.0 / 30 + y * (1.0 / 840 + y * (-1.0 / 45360 + y * (1.0 / 3991680 +
           y * (-1.0 / 518918400.0 + y * (1.0 / 93405312000.0 + y * (-1.0 / 22230464256000.0)))))));
}

ALWAYS_INLINE VD LN(cosine_near_zero)(VD y)
{
    return 1.0 - y * (1.0 / 2 - y * (1.0 / 24 - y * (1.0 / 720 - y * (1.0 / 40320 - y * (1.0 / 3628800 -
           y * (1.0 / 479001600 - y * (1.0 / 87178291200)))))));
}

typedef struct {
    VD tau, less; /* tau(y) and tau(y) - 1, the latter to full relative accuracy */
    VD c;         /* cos(sqrt y), or 1 for y <= 0: the factor that removes the poles */
    VD quarter;   /* floor(sqrt(y) / (pi/2)), consistent with the sign of tau */
} LN(Tangent);

/* Sine, cosine and quarter of any x >= 0; far out, where few digits of x mod 2 pi are left or the
   reduction is too short, alone. Beyond 2^52 a count means nothing: it becomes NaN. */
ALWAYS_INLINE void LN(waves)(VD x, VD *s, VD *c, VD *quarter, VI *hard)
{
#if LANES == 1
    if (!(x < FAR_OUT)) {
        *s = sin(x), *c = cos(x);
        *quarter = floor(x / (0.5 * PI));
        if (!(x < 4503599627370496.0))
            *quarter = NAN;
        else if ((fmod(*quarter, 2) != 0) != ((*s < 0) != (*c < 0)))
            *quarter += x - *quarter * (0.5 * PI) < 0.25 * PI ? -1 : 1;
        return;
    }
#else
    *hard |= ~LT(x, FAR_OUT + NONE);
#endif
    LN(sine_cosine)(x, s, c, quarter);
}

ALWAYS_INLINE LN(Tangent) LN(tangent)(VD y, VI *hard)
{
    LN(Tangent) t;
    VI wave = LT(NONE, y), small = LT(ABS(y), 0.5 + NONE);
    VD x = LN(roots)(ABS(y));
    VD near = NONE, far = NONE;
    if (ANY(small))
        near = y * LN(sine_remainder)(y) / LN(cosine_near_zero)(y);
    t.c = 1.0 + NONE, t.quarter = NONE;
    if (ANY(wave)) {
        VD s, c, quarter;
        LN(waves)(SEL(wave, x, NONE), &s, &c, &quarter, hard);
        far = s / (x * c);
        t.c = SEL(wave, c, t.c), t.quarter = SEL(wave, quarter, NONE);
    }
    if (ANY(~wave)) {
        VI deep = LT(20.0 + NONE, x);
        VD e = SEL(deep, NONE, LN(decay)(SEL(deep | wave, NONE, -2.0 * x)));
        far = SEL(wave, far, (1.0 - e) / ((1.0 + e) * x));
    }
    t.tau = SEL(small, 1.0 + near, far);
    t.less = SEL(small, near, far - 1.0);
    return t;
}

/* Where a beam's stiffness stands to its poles, the clamped-clamped frequencies: the clamped
   determinant, free of poles and 1 at rest; and how near the nearest pole is, as what is left of
   the terms that cancel there over their sum. */
typedef struct {
    VD norm, distance;
} LN(Pole);

ALWAYS_INLINE void LN(approach)(LN(Pole) *pole, VD norm, VD distance)
{
    pole->norm *= norm;
    pole->distance = SEL(LT(distance, pole->distance), distance, pole->distance);
}

/* Bending in one plane: k holds the upper triangle over (v, psi, d_v, d_psi), row by row.
   Adds the clamped-clamped count. */
static void LN(bending)(const VD *at, double m, double EI, double shear, double rI, VD k[10],
                        LN(Pole) *pole, VD *J0, VI *hard)
{
    const VD w2 = at[0], L = at[1];
    VD a = 0.5 * L;
    VD vv = NONE, vp = NONE, pp = EI / a, rr = NONE, re = NONE;
    VD ee = 1.0 / (a * shear + a * a * a / (3 * EI));
    VD q = w2 * (m / EI);
    if (m > 0 && ANY(LT(NONE, q))) {
        VD b2 = w2 * (m * shear), r = w2 * (rI / EI), rho = w2 * (rI * shear);
        VD h = 0.5 * (r - b2), disc = LN(roots)(h * h + q);
        VD up = SEL(LT(h, NONE), q / (disc - h), disc + h); /* S2 - b2 */
        VD down = q / up;                                   /* b2 - S1 */
        VD S2 = b2 + up, p = q * (1.0 - rho), S1 = -p / S2, dS = 2.0 * disc;
        LN(Tangent) t1 = LN(tangent)(S1 * a * a, hard), t2 = LN(tangent)(S2 * a * a, hard);
        VD tt = t1.tau * t2.tau, cross = S2 * t2.less - S1 * t1.less, dl = t2.less - t1.less;
        VD ds = up * t2.tau + down * t1.tau;
        VD da = b2 * (dS + cross) + p * dl;
        VD f = w2 * m, is = 1.0 / ds, ia = 1.0 / da;
        vv = -f * a * tt * dS * is;
        vp = f * dl * is;
        pp = EI * dS * is / a;
        ee = f * dS * ia / a;
        re = -f * cross * ia;
        rr = f * a * (dS * (t1.less * t2.less - rho * tt) - (b2 + r) * dl) * ia;
        VD pinned = t2.quarter + SEL(LT(NONE, S1), 1.0 + t1.quarter, NONE);
        *J0 += pinned - ONE_IF(LT(pp, NONE)) - ONE_IF(LT(tt * p * ia, NONE));
        VD c = ABS(t1.c * t2.c / dS);
        VD terms = ABS(b2 * dS) + ABS((b2 * S2 + p) * t2.less) + ABS((b2 * S1 + p) * t1.less);
        LN(approach)(pole, ABS(ds) * c, ABS(ds) / (ABS(up * t2.tau) + ABS(down * t1.tau)));
        LN(approach)(pole, ABS(da) * c / (b2 + a * a * q / 3.0), ABS(da) / terms);
    }
    k[0] = 2.0 * vv;
    k[1] = 2.0 * a * vv;
    k[2] = vv;
    k[3] = vp;
    k[4] = 2.0 * (a * a * vv + rr);
    k[5] = a * vv + re;
    k[6] = a * vp + rr - a * re;
    k[7] = 0.5 * (vv + ee);
    k[8] = 0.5 * (vp + re - a * ee);
    k[9] = 0.5 * (pp + rr + a * a * ee) - a * re;
}

/* A plane that does not bend: rigid inertia on the root's motion. */
ALWAYS_INLINE void LN(rigid_plane)(VD w2, VD L, double m, double rI, VD k[10])
{
    for (int i = 0; i < 10; ++i)
        k[i] = NONE;
    k[0] = -w2 * m * L;
    k[1] = -w2 * m * L * L / 2.0;
    k[4] = -w2 * L * (m * L * L / 3.0 + rI);
}

/* Axial motion or torsion: k holds (root root), (root d), (d d). */
static void LN(rod)(const VD *at, double EA, double m, VD k[3], LN(Pole) *pole, VD *J0, VI *hard)
{
    const VD w2 = at[0], L = at[1];
    VD x = L * LN(roots)(w2 * (m / EA)), s, c, quarter, ratio = EA / L;
    LN(waves)(x, &s, &c, &quarter, hard);
    VI moves = LT(NONE, x);
    VD half = SEL(LT(c, NONE), (1.0 - c) / s, s / (1.0 + c)); /* tan(x / 2) */
    k[1] = -ratio * x * half;
    k[0] = 2.0 * k[1];
    k[2] = SEL(moves, ratio * x * c / s, ratio);
    LN(approach)(pole, SEL(moves, ABS(s / x), 1.0 + NONE), SEL(LT(x, 1.0 + NONE), 1.0 + NONE, ABS(s)));
    VD whole = 0.5 * quarter, down = (whole + 6755399441055744.0) - 6755399441055744.0;
    *J0 += down - ONE_IF(LT(whole, down)); /* floor(x / pi) = floor(quarter / 2) */
}

/* A beam in relative coordinates; u and phi hold 3, xy and xz 10 numbers each. */
typedef struct {
    VD u[3], xy[10], xz[10], phi[3], J0;
    LN(Pole) pole;
    VI hard;
} LN(Stiffness);

/* Numbers first .. first + count of a varying beam, by Horner's rule in t = w2 / reach. */
ALWAYS_INLINE void LN(powers)(const Beam *b, VD t, int first, int count, VD *k)
{
    for (int i = 0; i < count; ++i) {
        const double *c = b->curve + (b->terms - 1) * CURVE + first + i;
        VD sum = *c + NONE;
        for (int j = b->terms - 1; j > 0; --j) {
            c -= CURVE;
            sum = sum * t + *c;
        }
        k[i] = sum;
    }
}

/* A varying beam without a clamped frequency up to its reach; beyond that nothing is counted. */
static void LN(curved)(const VD *at, const Beam *b, int R, LN(Stiffness) *s)
{
    const VD w2 = at[0], t = w2 / b->reach;
    LN(powers)(b, t, 0, 3, s->u);
    LN(powers)(b, t, 3, 10, s->xy);
    if (R == 6) {
        LN(powers)(b, t, 13, 10, s->xz);
        LN(powers)(b, t, 23, 3, s->phi);
    }
    s->pole.distance = CURVED + NONE;
    s->J0 = SEL(LT(b->reach + NONE, w2), NAN + NONE, NONE);
}

ALWAYS_INLINE void LN(stiffness)(VD w2, VD L, const Beam *b, int R, LN(Stiffness) *s)
{
    const VD at[2] = {w2, L};
    s->pole = (LN(Pole)){1.0 + NONE, 1.0 + NONE};
    s->J0 = NONE;
    s->hard = BITS(NONE);
    s->u[1] = s->u[2] = s->phi[1] = s->phi[2] = NONE;
    if (b->curve) {
        LN(curved)(at, b, R, s);
        return;
    }
    if (b->active & ACTIVE_U)
        LN(rod)(at, b->EA, b->m, s->u, &s->pole, &s->J0, &s->hard);
    else
        s->u[0] = -w2 * b->m * L;
    if (b->active & ACTIVE_XY)
        LN(bending)(at, b->m, b->EI[0], b->shear[0], b->rI[0], s->xy, &s->pole, &s->J0, &s->hard);
    else
        LN(rigid_plane)(w2, L, b->m, b->rI[0], s->xy);
    if (R == 3)
        return;
    if (b->active & ACTIVE_XZ)
        LN(bending)(at, b->m, b->EI[1], b->shear[1], b->rI[1], s->xz, &s->pole, &s->J0, &s->hard);
    else
        LN(rigid_plane)(w2, L, b->m, b->rI[1], s->xz);
    if (b->active & ACTIVE_PHI)
        LN(rod)(at, b->GJ, b->rIp, s->phi, &s->pole, &s->J0, &s->hard);
    else
        s->phi[0] = -w2 * b->rIp * L;
}

#if LANES == 1
/* What a beam's norm leaves out of the clamped determinant, so that nothing overflows: cosh(x)^2 of the
   decaying waves, x = L / 2 sqrt(-S1), in every plane that bends; here without its exp(2 x). */
static double left_out(double w2, double L, const Beam *b, int R)
{
    double all = 1;
    for (int i = 0; i < (R == 3 ? 1 : 2); ++i)
        if (b->active & (i ? ACTIVE_XZ : ACTIVE_XY) && b->m > 0) {
            const double q = w2 * (b->m / b->EI[i]), b2 = w2 * (b->m * b->shear[i]);
            const double h = 0.5 * (w2 * (b->rI[i] / b->EI[i]) - b2), disc = sqrt(h * h + q);
            const double S2 = b2 + (h < 0 ? q / (disc - h) : disc + h);
            const double S1 = -q * (1 - w2 * (b->rI[i] * b->shear[i])) / S2;
            const double x = S1 < 0 ? L * sqrt(-S1) : 0, e = x < 60 ? decay1(-x) : 0;
            all *= S1 < 0 ? 0.25 * (1 + e) * (1 + e) : 1;
        }
    return all;
}
#endif
