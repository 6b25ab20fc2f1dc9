/* Condensation of a tree of beams from its ends to the ground, at one circular frequency.
   Included once with R = 3 (planar: u, v, psi_z) and once with R = 6 (spatial:
   u, v, w, phi_x, psi_y, psi_z): planar is the same text on fewer coordinates.

   Each segment is a joint (fixed transform T and releases) followed by a beam, with rigid masses at
   the beam's root and end. At its end a segment carries D, the dynamic stiffness of all that hangs
   there; one step adds the beam, eliminates the end's deformations d and the releases, and hands
   the rest to the parent. Every eliminated unknown leaves its pivot's sign in the count (Wittrick
   and Williams 1971) and its value in the determinant. Closures enter as unknown forces: E couples
   them to the node's motion, F (shared) to one another. */

#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)
#define FN(name) CAT(name, R)

#if R == 3
enum { FN(V) = 1, FN(PZ) = 2 };
#else
enum { FN(V) = 1, FN(W) = 2, FN(PHI) = 3, FN(PY) = 4, FN(PZ) = 5 };
#endif

typedef double FN(Matrix)[R][R];

/* The beam in relative coordinates: oo (root, root), od (root, d), dd (d, d); its clamped-clamped
   count and pole-free determinant. `home` is where it was computed: alike beams share one. */
typedef struct {
    FN(Matrix) oo, od, dd;
    int active[R], home;
    int64_t J0;
    Pole pole;
} FN(Stiffness);

static void FN(place)(FN(Stiffness) *s, const double k[10], int v, int p, double sign)
{
    s->oo[v][v] = k[0];
    s->oo[v][p] = s->oo[p][v] = sign * k[1];
    s->od[v][v] = k[2];
    s->od[v][p] = sign * k[3];
    s->oo[p][p] = k[4];
    s->od[p][v] = sign * k[5];
    s->od[p][p] = k[6];
    s->dd[v][v] = k[7];
    s->dd[v][p] = s->dd[p][v] = sign * k[8];
    s->dd[p][p] = k[9];
}

/* A plane that does not bend: rigid inertia on the root's motion. */
static void FN(place_rigid)(FN(Stiffness) *s, double w2, double L, double m, double rI, int v,
                            int p, double sign)
{
    double k[10] = {-w2 * m * L, -w2 * m * L * L / 2, 0, 0, -w2 * L * (m * L * L / 3 + rI)};
    FN(place)(s, k, v, p, sign);
}

static void FN(stiffness)(double w2, double L, const Beam *b, FN(Stiffness) *s)
{
    double k[10];
    memset(s, 0, sizeof *s);
    s->pole = (Pole){1.0, 1.0};
    if (b->active & ACTIVE_U) {
        s->J0 += rod(w2, L, b->EA, b->m, k, &s->pole);
        s->oo[0][0] = k[0], s->od[0][0] = k[1], s->dd[0][0] = k[2];
    } else
        s->oo[0][0] = -w2 * b->m * L;
    s->active[0] = (b->active & ACTIVE_U) != 0;
    if (b->active & ACTIVE_XY) {
        s->J0 += bending(w2, L, b->m, b->EI[0], b->shear[0], b->rI[0], k, &s->pole);
        FN(place)(s, k, FN(V), FN(PZ), 1.0);
    } else
        FN(place_rigid)(s, w2, L, b->m, b->rI[0], FN(V), FN(PZ), 1.0);
    s->active[FN(V)] = s->active[FN(PZ)] = (b->active & ACTIVE_XY) != 0;
#if R == 6
    if (b->active & ACTIVE_XZ) {
        s->J0 += bending(w2, L, b->m, b->EI[1], b->shear[1], b->rI[1], k, &s->pole);
        FN(place)(s, k, W6, PY6, -1.0);
    } else
        FN(place_rigid)(s, w2, L, b->m, b->rI[1], W6, PY6, -1.0);
    s->active[W6] = s->active[PY6] = (b->active & ACTIVE_XZ) != 0;
    if (b->active & ACTIVE_PHI) {
        s->J0 += rod(w2, L, b->GJ, b->rIp, k, &s->pole);
        s->oo[PHI6][PHI6] = k[0], s->od[PHI6][PHI6] = k[1], s->dd[PHI6][PHI6] = k[2];
    } else
        s->oo[PHI6][PHI6] = -w2 * b->rIp * L;
    s->active[PHI6] = (b->active & ACTIVE_PHI) != 0;
#endif
}

/* A X, with X the rigid transport over L along x: v_end = v + L psi_z, w_end = w - L psi_y. */
static void FN(transport_columns)(FN(Matrix) A, double L)
{
    for (int i = 0; i < R; ++i) {
        A[i][FN(PZ)] += L * A[i][FN(V)];
#if R == 6
        A[i][PY6] -= L * A[i][W6];
#endif
    }
}

/* Eliminate two deformations at once, i < j, each of which is nearly nothing beside what couples
   them; one of the two pivots is negative. */
static void FN(eliminate_pair)(int i, int j, FN(Matrix) D, FN(Matrix) C, FN(Matrix) A, double *Ed,
                               double *E, double *F, int c, Value *f)
{
    const double a = D[i][i], b = D[i][j], e = D[j][j], det = a * e - b * b;
    f->J += 1;
    f->m *= det;
    for (int k = i + 1; k < R; ++k) {
        if (k == j)
            continue;
        const double x = D[i][k], y = k < j ? D[k][j] : D[j][k];
        const double g = (e * x - b * y) / det, h = (a * y - b * x) / det;
        for (int l = k; l < R; ++l)
            if (l != j)
                D[k][l] -= g * D[i][l] + h * (l < j ? D[l][j] : D[j][l]);
        for (int l = 0; l < R; ++l)
            C[k][l] -= g * C[i][l] + h * C[j][l];
        for (int l = 0; l < c; ++l)
            Ed[k * c + l] -= g * Ed[i * c + l] + h * Ed[j * c + l];
    }
    for (int k = 0; k < R; ++k) {
        const double x = C[i][k], y = C[j][k];
        const double g = (e * x - b * y) / det, h = (a * y - b * x) / det;
        for (int l = k; l < R; ++l)
            A[k][l] -= g * C[i][l] + h * C[j][l];
        for (int l = 0; l < c; ++l)
            E[k * c + l] -= g * Ed[i * c + l] + h * Ed[j * c + l];
    }
    for (int k = 0; k < c; ++k) {
        const double x = Ed[i * c + k], y = Ed[j * c + k];
        const double g = (e * x - b * y) / det, h = (a * y - b * x) / det;
        for (int l = 0; l < c; ++l)
            F[k * c + l] -= g * Ed[i * c + l] + h * Ed[j * c + l];
    }
}

/* The deformation j > i to eliminate together with i, or 0: a pivot that nearly vanishes beside its
   couplings would drown the rest in its inverse. */
ALWAYS_INLINE int FN(partner)(int i, FN(Matrix) D, const int *active, int all, unsigned done)
{
    for (int j = i + 1; j < R; ++j)
        if ((all || active[j]) && !(done >> j & 1) &&
            fabs(D[i][i] * D[j][j]) < VANISHING * D[i][j] * D[i][j])
            return j;
    return 0;
}

/* Eliminate the allowed deformations: D over d, C couples d to the root, A is the root's own. With
   `all` and `c` known when compiled, the loops unroll: this is where the time goes. */
ALWAYS_INLINE void FN(eliminate)(FN(Matrix) D, FN(Matrix) C, FN(Matrix) A, const int *active,
                                 int all, double *Ed, double *E, double *F, int c, Value *f)
{
    unsigned done = 0;
    for (int i = 0; i < R; ++i) {
        if ((!all && !active[i]) || (done >> i & 1))
            continue;
        int two = FN(partner)(i, D, active, all, done);
        if (two) {
            FN(eliminate_pair)(i, two, D, C, A, Ed, E, F, c, f);
            done |= 1u << two;
            continue;
        }
        double inv = pivot(D[i][i], f);
        for (int j = i + 1; j < R; ++j) {
            if (!all && !active[j])
                continue;
            double g = D[i][j] * inv;
            for (int k = j; k < R; ++k)
                D[j][k] -= g * D[i][k];
            for (int k = 0; k < R; ++k)
                C[j][k] -= g * C[i][k];
            for (int k = 0; k < c; ++k)
                Ed[j * c + k] -= g * Ed[i * c + k];
        }
        for (int j = 0; j < R; ++j) {
            double g = C[i][j] * inv;
            for (int k = j; k < R; ++k)
                A[j][k] -= g * C[i][k];
            for (int k = 0; k < c; ++k)
                E[j * c + k] -= g * Ed[i * c + k];
        }
        if (c)
            closure_update(F, Ed + i * c, inv, c);
    }
}

/* X' A, as transport_columns from the other side. */
static void FN(transport_rows)(FN(Matrix) A, double L)
{
    for (int j = 0; j < R; ++j) {
        A[FN(PZ)][j] += L * A[FN(V)][j];
#if R == 6
        A[PY6][j] -= L * A[W6][j];
#endif
    }
}

/* The step over one segment: on entry D, E belong to its end; on return D, E belong to its root,
   before the releases are let go.

   The unknowns are y = d + P X u0: where what hangs on the end is softer than the beam, the
   deformation d (P = 0), which a stiff beam keeps small; where it is stiffer or heavier, the motion
   of the end (P = 1), so that its large numbers stay in the pivot and out of the root's stiffness
     A = oo - od P X - (od P X)' + X' [P dd P + (1 - P) D (1 - P)] X,   C = od' + [D (1 - P) - dd P] X. */
ALWAYS_INLINE void FN(beam_step)(double L, const FN(Stiffness) *s, FN(Matrix) D, double *E,
                                 double *F, int c, Value *f)
{
    FN(Matrix) C, A, U;
    int moved[R], all = 1;
    f->J += s->J0;
    f->m *= s->pole.norm;
    for (int i = 0; i < R; ++i) {
        all &= s->active[i];
        moved[i] = s->active[i] && fabs(D[i][i]) > fabs(s->dd[i][i]);
    }
    for (int i = 0; i < R; ++i)
        for (int j = 0; j < R; ++j) {
            C[i][j] = moved[j] ? -s->dd[i][j] : D[i][j];
            A[i][j] = moved[i] != moved[j] ? 0 : moved[i] ? s->dd[i][j] : D[i][j];
            U[i][j] = moved[j] ? s->od[i][j] : 0;
        }
    FN(transport_columns)(C, L);
    FN(transport_columns)(U, L);
    FN(transport_columns)(A, L);
    FN(transport_rows)(A, L);
    for (int i = 0; i < R; ++i)
        for (int j = 0; j < R; ++j) {
            A[i][j] += s->oo[i][j] - U[i][j] - U[j][i];
            C[i][j] += s->od[j][i];
            D[i][j] += s->dd[i][j];
        }
    double Ed[R * MAX_CLOSURE];
    if (c) {
        memcpy(Ed, E, sizeof(double) * R * c);
        for (int i = 0; i < R; ++i)
            for (int k = 0; k < c && moved[i]; ++k)
                E[i * c + k] = 0;
        for (int k = 0; k < c; ++k) {
            E[FN(PZ) * c + k] += L * E[FN(V) * c + k];
#if R == 6
            E[PY6 * c + k] -= L * E[W6 * c + k];
#endif
        }
    }
    if (all)
        FN(eliminate)(D, C, A, s->active, 1, Ed, E, F, c, f);
    else
        FN(eliminate)(D, C, A, s->active, 0, Ed, E, F, c, f);
    for (int i = 0; i < R; ++i)
        for (int j = 0; j < R; ++j)
            D[i][j] = i <= j ? A[i][j] : A[j][i];
}

/* The step over a beam near a pole of its stiffness (a clamped-clamped frequency): in two unequal
   pieces, which have their poles elsewhere. The determinant of the interior node's static stiffness,
   det K = det S(L) / (det S(a) det S(b)) with S the compliance of a cantilever's end, is divided out,
   so that the determinant stays the same function. */
static void FN(beam_in_pieces)(double w2, double L, const Beam *b, FN(Matrix) D, double *E,
                               double *F, int c, Value *f, int depth)
{
    FN(Stiffness) s;
    FN(stiffness)(w2, L, b, &s);
    if (s.pole.distance > NEAR || depth == 0) {
        FN(beam_step)(L, &s, D, E, F, c, f);
        return;
    }
    const double first = CUT * L, second = L - first;
    f->m *= compliance(b, first, R) * compliance(b, second, R) / compliance(b, L, R);
    normalise(f);
    FN(beam_in_pieces)(w2, second, b, D, E, F, c, f, depth - 1);
    normalise(f);
    FN(beam_in_pieces)(w2, first, b, D, E, F, c, f, depth - 1);
}

/* Let one release go: D -= g g' / (a' g + k), g = D a. */
ALWAYS_INLINE void FN(release_step)(double w2, const double *rel, FN(Matrix) D, double *E,
                                    double *F, int c, Value *f)
{
    double g[R], e[MAX_CLOSURE], p = release_stiffness(w2, rel[R], rel[R + 1], rel[R + 2], f);
    for (int i = 0; i < R; ++i) {
        g[i] = 0;
        for (int j = 0; j < R; ++j)
            g[i] += D[i][j] * rel[j];
    }
    for (int i = 0; i < R; ++i)
        p += g[i] * rel[i];
    for (int k = 0; k < c; ++k) {
        e[k] = 0;
        for (int i = 0; i < R; ++i)
            e[k] += rel[i] * E[i * c + k];
    }
    double inv = pivot(p, f);
    for (int i = 0; i < R; ++i) {
        for (int j = 0; j < R; ++j)
            D[i][j] -= g[i] * g[j] * inv;
        for (int k = 0; k < c; ++k)
            E[i * c + k] -= g[i] * e[k] * inv;
    }
    if (c)
        closure_update(F, e, inv, c);
}

/* Add a condensed root (D, E) to its parent's end: D_parent += T' D T, E_parent += T' E. */
ALWAYS_INLINE void FN(hand_down)(const double *T, FN(Matrix) D, const double *E, FN(Matrix) Dp,
                                 double *Ep, int c)
{
    FN(Matrix) DT;
    for (int i = 0; i < R; ++i)
        for (int j = 0; j < R; ++j) {
            double sum = 0;
            for (int k = 0; k < R; ++k)
                sum += D[i][k] * T[k * R + j];
            DT[i][j] = sum;
        }
    for (int i = 0; i < R; ++i)
        for (int j = i; j < R; ++j) {
            double sum = 0;
            for (int k = 0; k < R; ++k)
                sum += T[k * R + i] * DT[k][j];
            Dp[i][j] += sum;
            if (j > i)
                Dp[j][i] += sum;
        }
    for (int i = 0; i < R; ++i)
        for (int k = 0; k < c; ++k)
            for (int j = 0; j < R; ++j)
                Ep[i * c + k] += T[j * R + i] * E[j * c + k];
}

/* J and the pole-free determinant of configuration b at omega; f.J is the certified count. */
ALWAYS_INLINE Value FN(condense)(const Problem *P, int64_t b, double omega, int c)
{
    const int n = (int)P->n;
    const double w2 = omega * omega;
    Value f = {1.0, 0, 0};
    FN(Matrix) *D = (FN(Matrix) *)P->work;
    FN(Stiffness) *S = (FN(Stiffness) *)P->cache;
    double *E = P->work + (size_t)n * R * R, *F = E + (size_t)n * R * c;
    for (int i = 0; i < n; ++i) {
        const double *M = P->tip + (size_t)i * R * R;
        for (int j = 0; j < R * R; ++j)
            ((double *)D[i])[j] = -w2 * M[j];
    }
    if (c) {
        memset(F, 0, sizeof(double) * c * c);
        FN(load_closures)(P, b, E);
    }
    for (int i = n - 1; i >= 0; --i) {
        double *Ei = E + (size_t)i * R * c;
        const double L = P->L[b * n + i];
        const int twin = P->twins[i];
        if (twin >= 0 && P->L[b * n + twin] == L)
            S[i].home = S[twin].home;
        else {
            FN(stiffness)(w2, L, P->beams + i, S + i);
            S[i].home = i;
        }
        if (S[S[i].home].pole.distance > NEAR)
            FN(beam_step)(L, S + S[i].home, D[i], Ei, F, c, &f);
        else
            FN(beam_in_pieces)(w2, L, P->beams + i, D[i], Ei, F, c, &f, PIECES);
        const double *M = P->root + ((P->root_stride ? b : 0) * n + i) * R * R;
        for (int j = 0; j < R * R; ++j)
            ((double *)D[i])[j] -= w2 * M[j];
        const double *releases = P->releases + (P->release_stride ? b : 0) * P->start[n] * (R + 3);
        for (int k = P->start[i]; k < P->start[i + 1]; ++k)
            FN(release_step)(w2, releases + (size_t)k * (R + 3), D[i], Ei, F, c, &f);
        if (P->parents[i] >= 0)
            FN(hand_down)(P->T + (b * n + i) * R * R, D[i], Ei, D[P->parents[i]],
                          E + (size_t)P->parents[i] * R * c, c);
        normalise(&f);
    }
    if (c)
        closure_count(F, c, &f);
    return f;
}

static Value FN(evaluate)(const Problem *P, int64_t b, double omega)
{
    return P->c ? FN(condense)(P, b, omega, (int)P->c) : FN(condense)(P, b, omega, 0);
}

#undef FN
#undef CAT
#undef CAT_
