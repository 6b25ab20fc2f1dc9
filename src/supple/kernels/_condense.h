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
    double norm;
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
    double k[10], n;
    memset(s, 0, sizeof *s);
    s->norm = 1.0;
    if (b->active & ACTIVE_U) {
        s->J0 += rod(w2, L, b->EA, b->m, k, &n);
        s->norm *= n;
        s->oo[0][0] = k[0], s->od[0][0] = k[1], s->dd[0][0] = k[2];
    } else
        s->oo[0][0] = -w2 * b->m * L;
    s->active[0] = (b->active & ACTIVE_U) != 0;
    if (b->active & ACTIVE_XY) {
        s->J0 += bending(w2, L, b->m, b->EI[0], b->shear[0], b->rI[0], k, &n);
        s->norm *= n;
        FN(place)(s, k, FN(V), FN(PZ), 1.0);
    } else
        FN(place_rigid)(s, w2, L, b->m, b->rI[0], FN(V), FN(PZ), 1.0);
    s->active[FN(V)] = s->active[FN(PZ)] = (b->active & ACTIVE_XY) != 0;
#if R == 6
    if (b->active & ACTIVE_XZ) {
        s->J0 += bending(w2, L, b->m, b->EI[1], b->shear[1], b->rI[1], k, &n);
        s->norm *= n;
        FN(place)(s, k, W6, PY6, -1.0);
    } else
        FN(place_rigid)(s, w2, L, b->m, b->rI[1], W6, PY6, -1.0);
    s->active[W6] = s->active[PY6] = (b->active & ACTIVE_XZ) != 0;
    if (b->active & ACTIVE_PHI) {
        s->J0 += rod(w2, L, b->GJ, b->rIp, k, &n);
        s->norm *= n;
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

/* Eliminate the allowed deformations: D over d, C couples d to the root, A is the root's own. With
   `all` and `c` known when compiled, the loops unroll: this is where the time goes. */
ALWAYS_INLINE void FN(eliminate)(FN(Matrix) D, FN(Matrix) C, FN(Matrix) A, const int *active,
                                 int all, double *Ed, double *E, double *F, int c, Value *f)
{
    for (int i = 0; i < R; ++i) {
        if (!all && !active[i])
            continue;
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

/* The step over one segment: on entry D, E belong to its end; on return D, E belong to its root,
   before the releases are let go. */
ALWAYS_INLINE void FN(beam_step)(double L, const FN(Stiffness) *s, FN(Matrix) D, double *E,
                                 double *F, int c, Value *f)
{
    FN(Matrix) C, A;
    f->J += s->J0;
    f->m *= s->norm;
    memcpy(C, D, sizeof C);
    FN(transport_columns)(C, L);
    memcpy(A, C, sizeof A);
    for (int j = 0; j < R; ++j) {
        A[FN(PZ)][j] += L * C[FN(V)][j];
#if R == 6
        A[PY6][j] -= L * C[W6][j];
#endif
    }
    for (int i = 0; i < R; ++i)
        for (int j = 0; j < R; ++j) {
            A[i][j] += s->oo[i][j];
            C[i][j] += s->od[j][i];
            D[i][j] += s->dd[i][j];
        }
    double Ed[R * MAX_CLOSURE];
    if (c) {
        memcpy(Ed, E, sizeof(double) * R * c);
        for (int k = 0; k < c; ++k) {
            E[FN(PZ) * c + k] += L * Ed[FN(V) * c + k];
#if R == 6
            E[PY6 * c + k] -= L * Ed[W6 * c + k];
#endif
        }
    }
    int all = 1;
    for (int i = 0; i < R; ++i)
        all &= s->active[i];
    if (all)
        FN(eliminate)(D, C, A, s->active, 1, Ed, E, F, c, f);
    else
        FN(eliminate)(D, C, A, s->active, 0, Ed, E, F, c, f);
    for (int i = 0; i < R; ++i)
        for (int j = 0; j < R; ++j)
            D[i][j] = i <= j ? A[i][j] : A[j][i];
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
        FN(beam_step)(L, S + S[i].home, D[i], Ei, F, c, &f);
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
