/* Condensation of a tree of beams from its ends to the ground, several configurations side by side,
   each at a circular frequency of its own. Included for every width LANES, once with R = 3 (planar:
   u, v, psi_z) and once with R = 6 (spatial: u, v, w, phi_x, psi_y, psi_z): planar is the same text on
   fewer coordinates.

   Each segment is a joint (fixed transform T and releases) followed by a beam, with rigid masses at
   the beam's root and end. At its end a segment carries D, the dynamic stiffness of all that hangs
   there; one step adds the beam, eliminates the end's deformations d and the releases, and hands
   the rest to the parent. Every eliminated unknown leaves its pivot's sign in the count (Wittrick
   and Williams 1971) and its value in the determinant. Closures enter as unknown forces: E couples
   them to the node's motion, F (shared) to one another.

   What only one lane may need (pivots in pairs, beams cut near their poles) marks the lane as hard; it
   is then evaluated alone, by the same text with LANES = 1.

   With `guard`, every stage adds sigma times a bound of its own rounding to the diagonal. Where an
   entry is a sum of terms t_ij with |t_ij| <= sqrt(s_i s_j), its rounding is below KAPPA sqrt(s_i s_j)
   and, as a form, below R KAPPA diag(s). Counts are monotonic in the stiffness: with sigma = -1 the
   count is proven not too small, with sigma = 1 not too large, whatever was rounded. */

#define FN(name) CAT(CAT(name, R), CAT(_, LANES))
#if R == 3 || LANES >= 4
#define UNROLL _Pragma("GCC unroll 6")
#else
#define UNROLL
#endif

#undef V
#undef W
#undef PHI
#undef PY
#undef PZ
#if R == 3
#define V 1
#define PZ 2
#else
#define V 1
#define W 2
#define PHI 3
#define PY 4
#define PZ 5
#endif

typedef VD FN(Matrix)[R][R];

#define KAPPA (2 * R * DBL_EPSILON)
#define SHIFT(x) NUMBER(BITS((KAPPA * sigma) * (x)) & guarded) /* nothing where sigma is zero */

/* Whether the beam couples the coordinates i and j. */
#if R == 3
#define COUPLED(i, j) ((i) == (j) || ((i) && (j)))
#else
#define COUPLED(i, j) ((i) == (j) || ((i) + (j) == 6 && ((i) == 1 || (i) == 2 || (i) == 4 || (i) == 5)))
#endif

/* Sizes s of a symmetric matrix, of a beam or of any, with |D_ij| <= sqrt(s_i s_j):
   s_i = |D_ii| + sum D_ij^2 / (|D_ii| + |D_jj|). */
ALWAYS_INLINE void FN(sizes)(FN(Matrix) D, VD *s, int beam)
{
    UNROLL for (int i = 0; i < R; ++i)
        s[i] = ABS(D[i][i]);
    UNROLL for (int i = 0; i < R; ++i)
        UNROLL for (int j = i + 1; j < R; ++j) {
            if (beam && !COUPLED(i, j))
                continue;
            VD both = D[i][j] * D[i][j] / (ABS(D[i][i]) + ABS(D[j][j]) + DBL_MIN);
            s[i] += both;
            s[j] += both;
        }
}

/* The blocks of a beam as full matrices: oo (root, root), od (root, d), dd (d, d). */
ALWAYS_INLINE void FN(blocks)(const LN(Stiffness) *s, FN(Matrix) oo, FN(Matrix) od, FN(Matrix) dd)
{
    UNROLL for (int i = 0; i < R; ++i)
        UNROLL for (int j = 0; j < R; ++j)
            oo[i][j] = od[i][j] = dd[i][j] = NONE;
    oo[0][0] = s->u[0], od[0][0] = s->u[1], dd[0][0] = s->u[2];
#define PLACE(k, v, p, sign)                                                                   \
    oo[v][v] = k[0], oo[v][p] = oo[p][v] = sign k[1], od[v][v] = k[2], od[v][p] = sign k[3],   \
    oo[p][p] = k[4], od[p][v] = sign k[5], od[p][p] = k[6], dd[v][v] = k[7],                   \
    dd[v][p] = dd[p][v] = sign k[8], dd[p][p] = k[9]
    PLACE(s->xy, V, PZ, +);
#if R == 6
    PLACE(s->xz, W, PY, -);
    oo[PHI][PHI] = s->phi[0], od[PHI][PHI] = s->phi[1], dd[PHI][PHI] = s->phi[2];
#endif
#undef PLACE
}

/* A X, with X the rigid transport over L along x: v_end = v + L psi_z, w_end = w - L psi_y. */
ALWAYS_INLINE void FN(transport_columns)(FN(Matrix) A, VD L)
{
    UNROLL for (int i = 0; i < R; ++i) {
        A[i][PZ] += L * A[i][V];
#if R == 6
        A[i][PY] -= L * A[i][W];
#endif
    }
}

/* X' A, as transport_columns from the other side. */
ALWAYS_INLINE void FN(transport_rows)(FN(Matrix) A, VD L)
{
    UNROLL for (int j = 0; j < R; ++j) {
        A[PZ][j] += L * A[V][j];
#if R == 6
        A[PY][j] -= L * A[W][j];
#endif
    }
}

/* What one elimination works on: D over d, C couples d to the root, A is the root's own; Ed couples d to
   the closures, as ties.E couples the root; d and a are sizes for the guard. */
typedef struct {
    VD (*D)[R], (*C)[R], (*A)[R], *Ed, *d, *a;
    LN(Ties) ties;
    int guard, last; /* whether nothing comes after */
    VD sigma;
    VI guarded;
} FN(Step);

#if LANES == 1
/* The deformation j > i to eliminate together with i, or 0: a pivot that nearly vanishes beside its
   couplings would drown the rest in its inverse. */
static int FN(partner)(int i, FN(Matrix) D, unsigned active, double vanishing)
{
    for (int j = i + 1; j < R; ++j)
        if (active >> j & 1 && fabs(D[i][i] * D[j][j]) < vanishing * (D[i][j] * D[i][j]))
            return j;
    return 0;
}

/* Eliminate two deformations at once, i < j, each of which is nearly nothing beside what couples
   them; one of the two pivots is negative. */
static void FN(eliminate_pair)(const FN(Step) *t, int i, int j, LN(Values) *f)
{
    VD(*D)[R] = t->D, (*C)[R] = t->C, (*A)[R] = t->A;
    const int c = t->ties.c;
    const double a = D[i][i], b = D[i][j], e = D[j][j], det = a * e - b * b;
    /* Where closures are coupled, the sizes bound every product of two of these terms, whose sums may cancel. */
    const double ratio = c ? sqrt((t->d[j] + DBL_MIN) / (t->d[i] + DBL_MIN)) : 1;
    const double weight_i = (fabs(e) + fabs(b) * ratio) / fabs(det), weight_j = (fabs(a) + fabs(b) / ratio) / fabs(det);
    f->J += 1;
    f->m *= det;
    for (int k = i + 1; k < R; ++k) {
        if (k == j)
            continue;
        const double x = D[i][k], y = k < j ? D[k][j] : D[j][k];
        const double g = (e * x - b * y) / det, h = (a * y - b * x) / det;
        t->d[k] += c ? weight_i * (x * x) + weight_j * (y * y) : fabs(g * x) + fabs(h * y);
        for (int l = k; l < R; ++l)
            if (l != j)
                D[k][l] -= g * D[i][l] + h * (l < j ? D[l][j] : D[j][l]);
        for (int l = 0; l < R; ++l)
            C[k][l] -= g * C[i][l] + h * C[j][l];
        for (int l = 0; l < c; ++l)
            t->Ed[k * c + l] -= g * t->Ed[i * c + l] + h * t->Ed[j * c + l];
    }
    for (int k = 0; k < R; ++k) {
        const double x = C[i][k], y = C[j][k];
        const double g = (e * x - b * y) / det, h = (a * y - b * x) / det;
        t->a[k] += c ? weight_i * (x * x) + weight_j * (y * y) : fabs(g * x) + fabs(h * y);
        for (int l = k; l < R; ++l)
            A[k][l] -= g * C[i][l] + h * C[j][l];
        for (int l = 0; l < c; ++l)
            t->ties.E[k * c + l] -= g * t->Ed[i * c + l] + h * t->Ed[j * c + l];
    }
    for (int k = 0; k < c; ++k) {
        const double x = t->Ed[i * c + k], y = t->Ed[j * c + k];
        const double g = (e * x - b * y) / det, h = (a * y - b * x) / det;
        t->ties.Fs[k] += weight_i * (x * x) + weight_j * (y * y);
        for (int l = k; l < c; ++l)
            t->ties.F[k * t->ties.all + l] -= g * t->Ed[i * c + l] + h * t->Ed[j * c + l];
    }
}
#endif

#if LANES == 1
/* Put an unknown off until the end, where a pivot may be chosen: it stands beside the closures. Its own
   stiffness is p; a couples it to the root, e to the closures and d to other deformations, if any. */
static void FN(put_off)(VD p, const VD *a, const VD *e, const VD *d, VD *Ed, const LN(Ties) *ties, LN(Values) *f)
{
    const int c = ties->c, s = c - f->room + f->put_off++;
    VD *F = ties->F;
    for (int j = 0; j < R; ++j) {
        ties->E[j * c + s] = a[j];
        if (d)
            Ed[j * c + s] = d[j];
    }
    for (int k = 0; k < c; ++k)
        F[s * c + k] = F[k * c + s] = e[k];
    F[s * c + s] = p;
}
#endif

/* Eliminate the allowed deformations. With all of them allowed, known when compiled, the loops unroll:
   this is where the time goes. */
ALWAYS_INLINE void FN(eliminate)(const FN(Step) *t, unsigned active, LN(Values) *f)
{
    VD(*D)[R] = t->D, (*C)[R] = t->C, (*A)[R] = t->A;
    const int c = t->ties.c;
    const VD sigma = t->sigma;
    const VI guarded = t->guarded;
    unsigned left = active;
    UNROLL for (int i = 0; i < R; ++i) {
        if (!(left >> i & 1))
            continue;
        left &= ~(1u << i);
        const int spreads = f->faint > 0 && (left || !t->last); /* the last pivot of all is small at a root */
        if (t->guard)
            D[i][i] += SHIFT(t->d[i]);
#if LANES == 1
        int two = FN(partner)(i, D, left, f->vanishing);
        if (two) {
            if (t->guard)
                D[two][two] += SHIFT(t->d[two]);
            FN(eliminate_pair)(t, i, two, f);
            f->hard = -1;
            left &= ~(1u << two);
            LN(normalise)(f);
            continue;
        }
        if (spreads && fabs(D[i][i]) < f->faint * t->d[i] && f->put_off < f->room) {
            double others[R] = {0};
            for (int j = i + 1; j < R; ++j)
                others[j] = left >> j & 1 ? D[i][j] : 0;
            FN(put_off)(D[i][i], C[i], t->Ed + i * c, others, t->Ed, &t->ties, f);
            continue;
        }
#else
        UNROLL for (int j = i + 1; j < R; ++j)
            if (left >> j & 1)
                f->hard |= LT(ABS(D[i][i] * D[j][j]), f->vanishing * (D[i][j] * D[i][j]));
#endif
        if (spreads)
            f->hard |= LT(ABS(D[i][i]), f->faint * t->d[i]);
        VD inv = LN(pivot)(D[i][i], t->d[i], f);
        UNROLL for (int j = i + 1; j < R; ++j) {
            if (!(left >> j & 1))
                continue;
            VD g = D[i][j] * inv;
            if (t->guard)
                t->d[j] += ABS(g * D[i][j]);
            UNROLL for (int k = j; k < R; ++k)
                D[j][k] -= g * D[i][k];
            UNROLL for (int k = 0; k < R; ++k)
                C[j][k] -= g * C[i][k];
            for (int k = 0; k < c; ++k)
                t->Ed[j * c + k] -= g * t->Ed[i * c + k];
        }
        UNROLL for (int j = 0; j < R; ++j) {
            VD g = C[i][j] * inv;
            if (t->guard)
                t->a[j] += ABS(g * C[i][j]);
            UNROLL for (int k = j; k < R; ++k)
                A[j][k] -= g * C[i][k];
            for (int k = 0; k < c; ++k)
                t->ties.E[j * c + k] -= g * t->Ed[i * c + k];
        }
        if (c)
            LN(closure_update)(&t->ties, t->Ed + i * c, inv);
    }
}

static void FN(eliminate_some)(const FN(Step) *t, unsigned active, LN(Values) *f)
{
    FN(eliminate)(t, active, f);
}

/* The step over one segment: on entry D, E belong to its end; on return D, E belong to its root,
   before the releases are let go.

   The unknowns are y = d + P X u0: where what hangs on the end is softer than the beam, the
   deformation d (P = 0), which a stiff beam keeps small; where it is stiffer or heavier, the motion
   of the end (P = 1), so that its large numbers stay in the pivot and out of the root's stiffness
     A = oo - od P X - (od P X)' + X' [P dd P + (1 - P) D (1 - P)] X,   C = od' + [D (1 - P) - dd P] X. */
ALWAYS_INLINE void FN(beam_step)(VD L, const LN(Stiffness) *s, unsigned active, FN(Matrix) D, LN(Ties) ties,
                                 int guard, int last, VD sigma, VI guarded, LN(Values) *f)
{
    VD *E = ties.E;
    const int c = ties.c;
    FN(Matrix) C, A, U, oo, od, dd;
    VD d[R], a[R], Ed[R * MAX_CLOSURE], own[R], from[R];
    VI moved[R], some = BITS(NONE);
    FN(blocks)(s, oo, od, dd);
    f->J += s->J0;
    f->m *= s->pole.norm;
    UNROLL for (int i = 0; i < R; ++i) {
        moved[i] = active >> i & 1 ? LT(ABS(dd[i][i]), ABS(D[i][i])) : BITS(NONE);
        some |= moved[i];
    }
    if (guard) {
        FN(sizes)(D, d, 0);
        FN(sizes)(dd, own, 1);
        FN(sizes)(oo, a, 1);
        UNROLL for (int i = 0; i < R; ++i) {
            own[i] = own[i] * (BEAM_ROUNDING / s->pole.distance);
            from[i] = SEL(moved[i], own[i], d[i]);
            a[i] = a[i] * (BEAM_ROUNDING / s->pole.distance) + from[i];
            d[i] += own[i];
        }
        a[PZ] += 2.0 * (L * L) * from[V];
#if R == 6
        a[PY] += 2.0 * (L * L) * from[W];
#endif
    } else
        UNROLL for (int i = 0; i < R; ++i) {
            d[i] = ABS(D[i][i]) + ABS(dd[i][i]);
            a[i] = NONE;
        }
    if (ANY(some)) {
        UNROLL for (int i = 0; i < R; ++i)
            UNROLL for (int j = 0; j < R; ++j) {
                VD rest = NUMBER(BITS(D[i][j]) & ~moved[j]);
                C[i][j] = COUPLED(i, j) ? rest - NUMBER(BITS(dd[i][j]) & moved[j]) : rest;
                A[i][j] = NUMBER(BITS(rest) & ~moved[i]);
                if (COUPLED(i, j))
                    A[i][j] += NUMBER(BITS(dd[i][j]) & moved[i] & moved[j]);
                U[i][j] = COUPLED(i, j) ? NUMBER(BITS(od[i][j]) & moved[j]) : NONE;
            }
        U[V][PZ] += L * U[V][V], U[PZ][PZ] += L * U[PZ][V]; /* X keeps to what the beam couples */
#if R == 6
        U[W][PY] -= L * U[W][W], U[PY][PY] -= L * U[PY][W];
#endif
    } else {
        UNROLL for (int i = 0; i < R; ++i)
            UNROLL for (int j = 0; j < R; ++j) {
                C[i][j] = A[i][j] = D[i][j];
                U[i][j] = NONE;
            }
    }
    FN(transport_columns)(C, L);
    FN(transport_columns)(A, L);
    FN(transport_rows)(A, L);
    UNROLL for (int i = 0; i < R; ++i)
        UNROLL for (int j = 0; j < R; ++j) {
            if (COUPLED(i, j)) {
                A[i][j] += oo[i][j] - (U[i][j] + U[j][i]);
                C[i][j] += od[j][i];
                D[i][j] += dd[i][j];
            }
        }
    if (c) {
        memcpy(Ed, E, sizeof(VD) * R * (size_t)c);
        for (int i = 0; i < R; ++i)
            for (int k = 0; k < c; ++k) {
                E[i * c + k] = NUMBER(BITS(E[i * c + k]) & ~moved[i]);
                if (guard && active >> i & 1)
                    ties.Fs[k] += Ed[i * c + k] * Ed[i * c + k] / (d[i] + DBL_MIN);
            }
        for (int k = 0; k < c; ++k) {
            E[PZ * c + k] += L * E[V * c + k];
#if R == 6
            E[PY * c + k] -= L * E[W * c + k];
#endif
        }
    }
    const FN(Step) t = {D, C, A, Ed, d, a, ties, guard, last, sigma, guarded};
    if (active == (1u << R) - 1)
        FN(eliminate)(&t, (1u << R) - 1, f);
    else
        FN(eliminate_some)(&t, active, f);
    UNROLL for (int i = 0; i < R; ++i)
        UNROLL for (int j = i; j < R; ++j)
            D[i][j] = D[j][i] = A[i][j];
    if (guard)
        UNROLL for (int i = 0; i < R; ++i)
            D[i][i] += SHIFT(a[i]);
}

#if LANES == 1
/* The step over a beam near a pole of its stiffness (a clamped-clamped frequency): in two unequal
   pieces, which have their poles elsewhere. The determinant of the interior node's static stiffness,
   det K = det S(L) / (det S(a) det S(b)) with S the compliance of a cantilever's end, is divided out,
   and what the pieces' norms leave out otherwise than the whole beam's is put back (`left_out`), so that
   the determinant stays the same function. */
static void FN(beam_in_pieces)(double w2, double L, const Beam *b, FN(Matrix) D, LN(Ties) ties, int last,
                               double sigma, int64_t guarded, LN(Values) *f, double near, int depth)
{
    LN(Stiffness) s;
    LN(stiffness)(w2, L, b, R, &s);
    if (s.pole.distance > near || depth == 0) {
        FN(beam_step)(L, &s, b->allowed[R == 6], D, ties, guarded != 0, last, sigma, guarded, f);
        return;
    }
    const double first = CUT * L, second = L - first;
    f->m *= compliance(b, first, R) * compliance(b, second, R) / compliance(b, L, R);
    LN(normalise)(f);
    f->m *= left_out(w2, first, b, R) * left_out(w2, second, b, R) / left_out(w2, L, b, R);
    LN(normalise)(f);
    FN(beam_in_pieces)(w2, second, b, D, ties, 0, sigma, guarded, f, near, depth - 1);
    LN(normalise)(f);
    FN(beam_in_pieces)(w2, first, b, D, ties, last, sigma, guarded, f, near, depth - 1);
}
#endif

/* Let one release go: D -= g g' / (a' g + k), g = D a. What it leaves along a itself is D a k / p: where
   a is a coordinate, its row is written so, without cancellation. tie: what the first `rows` closures take
   of the release itself. */
ALWAYS_INLINE void FN(release_step)(VD w2, const VD *rel, const VD *tie, int rows, FN(Matrix) D, LN(Ties) ties,
                                    int guard, int last, VD sigma, VI guarded, LN(Values) *f)
{
    VD *E = ties.E;
    const int c = ties.c;
    VD g[R], e[MAX_CLOSURE], s[R] = {NONE}, k = LN(release_stiffness)(w2, rel[R], rel[R + 1], rel[R + 2], f);
    VD p = k, size = ABS(k);
    UNROLL for (int i = 0; i < R; ++i) {
        g[i] = NONE;
        UNROLL for (int j = 0; j < R; ++j)
            g[i] += D[i][j] * rel[j];
    }
    UNROLL for (int i = 0; i < R; ++i) {
        p += g[i] * rel[i];
        size += ABS(g[i] * rel[i]);
    }
    if (guard || f->faint > 0) {
        FN(sizes)(D, s, 0);
        UNROLL for (int i = 0; i < R; ++i)
            size += s[i] * (rel[i] * rel[i]);
    }
    if (guard)
        p += SHIFT(size);
    const VD inverse_size = guard && c ? 1.0 / (size + DBL_MIN) : NONE;
    for (int j = 0; j < c; ++j) {
        e[j] = j < rows ? tie[j] : NONE;
        VD terms = ABS(e[j]); /* of which the closure's coupling to the release is the sum, which may cancel */
        UNROLL for (int i = 0; i < R; ++i) {
            const VD term = rel[i] * E[i * c + j];
            e[j] += term;
            terms += ABS(term);
        }
        if (guard)
            ties.Fs[j] += terms * terms * inverse_size;
    }
    if (f->faint > 0 && !last) {
#if LANES == 1
        if (fabs(p) < f->faint * size && f->put_off < f->room) {
            FN(put_off)(p, g, e, NULL, NULL, &ties, f);
            return;
        }
#endif
        f->hard |= LT(ABS(p), f->faint * size);
    }
    VD inv = LN(pivot)(p, size, f);
    UNROLL for (int i = 0; i < R; ++i) {
        UNROLL for (int j = 0; j < R; ++j)
            D[i][j] -= g[i] * g[j] * inv;
        for (int j = 0; j < c; ++j)
            E[i * c + j] -= g[i] * e[j] * inv;
    }
    if (guard)
        UNROLL for (int i = 0; i < R; ++i)
            D[i][i] += SHIFT(s[i] + ABS(g[i] * g[i] * inv));
    for (int axis = 0; axis < R; ++axis) {
        VI on = EQ(ABS(rel[axis]), 1.0 + NONE);
        for (int j = 0; j < R; ++j)
            on &= j == axis ? on : EQ(rel[j], NONE);
        if (!ANY(on))
            continue;
        VD left = k * inv * rel[axis];
        for (int j = 0; j < R; ++j)
            D[axis][j] = D[j][axis] = SEL(on, g[j] * left, D[axis][j]);
        if (guard)
            D[axis][axis] += NUMBER(BITS(SHIFT(ABS(D[axis][axis]))) & on);
        for (int j = 0; j < c; ++j) /* E_a = e (1 - a' g / p) = e k / p, less the tie, which is not of D */
            E[axis * c + j] = SEL(on, e[j] * left - (j < rows ? tie[j] : NONE) * rel[axis], E[axis * c + j]);
    }
    if (c)
        LN(closure_update)(&ties, e, inv);
}

/* Whether T couples the coordinates i and j; where a segment is only `turning`, within blocks alone. */
#if R == 3
#define TOUCHES(i, j) (!turning || ((i) < 2) == ((j) < 2))
#else
#define TOUCHES(i, j) (!turning || ((i) < 3) == ((j) < 3))
#endif

/* Add a condensed root (D, E) to its parent's end: D_parent += T' D T, E_parent += T' E. With `turning`,
   known when compiled, the zeros of T are left out. */
ALWAYS_INLINE void FN(handed)(const VD *T, FN(Matrix) D, LN(Ties) from, FN(Matrix) Dp, LN(Ties) to, int guard,
                              VD sigma, VI guarded, int turning)
{
    FN(Matrix) DT;
    VD s[R] = {NONE};
    UNROLL for (int i = 0; i < R; ++i)
        UNROLL for (int j = 0; j < R; ++j) {
            VD sum = NONE;
            int some = 0;
            UNROLL for (int k = 0; k < R; ++k)
                if (TOUCHES(k, j)) {
                    VD term = R == 3 && turning && j == 2 ? D[i][k] : D[i][k] * T[k * R + j];
                    sum = some ? sum + term : term;
                    some = 1;
                }
            DT[i][j] = sum;
        }
    if (guard)
        FN(sizes)(D, s, 0);
    UNROLL for (int i = 0; i < R; ++i)
        UNROLL for (int j = i; j < R; ++j) {
            VD sum = NONE;
            int some = 0;
            UNROLL for (int k = 0; k < R; ++k)
                if (TOUCHES(k, i)) {
                    VD term = R == 3 && turning && i == 2 ? DT[k][j] : T[k * R + i] * DT[k][j];
                    sum = some ? sum + term : term;
                    some = 1;
                }
            if (guard && i == j)
                UNROLL for (int k = 0; k < R; ++k)
                    if (TOUCHES(k, i))
                        sum += SHIFT(4.0 * (s[k] * (T[k * R + i] * T[k * R + i])));
            Dp[i][j] += sum;
            if (j > i)
                Dp[j][i] += sum;
        }
    VD *Ep = to.E + (from.Fs - to.Fs); /* the first of these closures among those of the parent */
    UNROLL for (int i = 0; i < R; ++i)
        UNROLL for (int j = 0; j < R; ++j)
            if (TOUCHES(j, i))
                for (int k = 0; k < from.c; ++k)
                    Ep[i * to.c + k] += T[j * R + i] * from.E[j * from.c + k];
}

ALWAYS_INLINE void FN(hand_down)(const VD *T, FN(Matrix) D, LN(Ties) from, FN(Matrix) Dp, LN(Ties) to, int guard,
                                 VD sigma, VI guarded, int turning)
{
    if (turning)
        FN(handed)(T, D, from, Dp, to, guard, sigma, guarded, 1);
    else
        FN(handed)(T, D, from, Dp, to, guard, sigma, guarded, 0);
}

/* One segment from its end to its parent's: the beam, the mass at its root, its releases; `closed` where
   there are closures or spare unknowns. */
ALWAYS_INLINE void FN(segment)(const Problem *P, const LN(Block) *K, int i, VD w2, int closed, int guard,
                               VD sigma, LN(Values) *f)
{
    FN(Matrix) *D = (FN(Matrix) *)K->D;
    const LN(Ties) none = {NULL, NULL, NULL, 0, 0}, ties = closed ? LN(ties_of)(P, K, i) : none;
    const Beam *b = P->beams + i;
    const LN(Stiffness) *s = K->S + P->home[i];
    const VI guarded = ~EQ(sigma, NONE);
    const int parent = P->parents[i], end = P->start[i + 1];
    const int base = parent < 0 && P->c == 0, last = base && P->start[i] == end;
#if LANES == 1
    if (!(s->pole.distance > K->near))
        FN(beam_in_pieces)(w2, K->L[i], b, D[i], ties, last, sigma, guarded, f, K->near, PIECES);
    else
#endif
        FN(beam_step)(K->L[i], s, b->allowed[R == 6], D[i], ties, guard, last, sigma, guarded, f);
    f->hard |= s->hard | ~LT(K->near + NONE, s->pole.distance);
    if (P->heavy[i]) {
        const VD *M = K->root + (size_t)i * R * R;
        VD *Di = &D[i][0][0];
        for (int j = 0; j < R * R; ++j)
            Di[j] -= w2 * M[j];
    }
    for (int k = P->start[i]; k < end; ++k) {
        const int first = closed && !K->spare ? P->first[i] : 0;
        FN(release_step)(w2, K->releases + (size_t)k * (R + 3), K->ties + (size_t)k * (size_t)P->c + first,
                         closed ? ties.c - K->spare : 0, D[i], ties, guard, base && k == end - 1, sigma, guarded, f);
    }
    if (parent >= 0) {
        const LN(Ties) to = closed ? LN(ties_of)(P, K, parent) : none;
        if (P->straight[i]) {
            VD *sum = &D[parent][0][0], *own = &D[i][0][0], *Ep = to.E + (ties.Fs - to.Fs);
            for (int j = 0; j < R * R; ++j)
                sum[j] += own[j];
            for (int j = 0; j < R; ++j)
                for (int k = 0; k < ties.c; ++k)
                    Ep[j * to.c + k] += ties.E[j * ties.c + k];
        } else
            FN(hand_down)(K->T + (size_t)i * R * R, D[i], ties, D[parent], to, guard, sigma, guarded, P->turning[i]);
    }
    LN(normalise)(f);
}

static void FN(plain_segment)(const Problem *P, const LN(Block) *K, int i, const VD *w2, LN(Values) *f)
{
    FN(segment)(P, K, i, *w2, 0, 0, NONE, f);
}

static void FN(guarded_segment)(const Problem *P, const LN(Block) *K, int i, const VD *w2,
                                const VD *sigma, LN(Values) *f)
{
    FN(segment)(P, K, i, *w2, 0, 1, *sigma, f);
}

static void FN(tied_segment)(const Problem *P, const LN(Block) *K, int i, const VD *w2, LN(Values) *f)
{
    FN(segment)(P, K, i, *w2, 1, 0, NONE, f);
}

static void FN(guarded_tied_segment)(const Problem *P, const LN(Block) *K, int i, const VD *w2,
                                     const VD *sigma, LN(Values) *f)
{
    FN(segment)(P, K, i, *w2, 1, 1, *sigma, f);
}

/* J and the pole-free determinant of the configurations of a block, each at its own omega; with
   `shared` all at one, whose beam stiffnesses are known. `sigma` is a lane's guard, zero without. What is
   faint is judged by the sizes that the guard adds up: so that a lane without one is judged as if alone. */
static void FN(evaluate)(const Problem *P, const LN(Block) *K, VD omega, const Stiffness1 *shared,
                         VD sigma, LN(Values) *f)
{
    const int n = (int)P->n, c = (int)P->c + K->spare;
    const int guard = K->faint > 0 || ANY(~EQ(sigma, NONE));
    const VD w2 = omega * omega;
    *f = (LN(Values)){1.0 + NONE, NONE, BITS(NONE), BITS(NONE), 0, K->spare, K->faint, K->vanishing};
    for (int j = 0; j < n * R * R; ++j)
        K->D[j] = -w2 * P->tip[j];
    if (c) {
        memset(K->F, 0, sizeof(VD) * (size_t)(c * c + c));
        LN(load_closures)(P, K);
    }
    for (int i = n - 1; i >= 0; --i) {
        if (P->home[i] == i && shared)
            LN(spread)(shared + i, R, K->S + i);
        else if (P->home[i] == i)
            LN(stiffness)(w2, K->L[i], P->beams + i, R, K->S + i);
        if (c && guard)
            FN(guarded_tied_segment)(P, K, i, &w2, &sigma, f);
        else if (c)
            FN(tied_segment)(P, K, i, &w2, f);
        else if (guard)
            FN(guarded_segment)(P, K, i, &w2, &sigma, f);
        else
            FN(plain_segment)(P, K, i, &w2, f);
    }
    if (c) {
        for (int k = 0; k < c && guard; ++k)
            K->F[k * c + k] += NUMBER(BITS((KAPPA * sigma) * K->F[c * c + k]) & ~EQ(sigma, NONE));
        LN(closure_count)(K->F, (int)P->c, K->choosy, sigma, f);
    }
    LN(normalise)(f);
}

#undef FN
#undef COUPLED
#undef TOUCHES
#undef KAPPA
#undef SHIFT
#undef UNROLL
