/* A block of configurations, lane by lane, and its evaluation. Included for every width LANES, after
   _lanes.h and _beam.h. */

typedef struct {
    VD *T, *L, *root, *releases, *rows_a, *rows_b, *ties; /* the problem's tables, configurations innermost */
    VD *D, *E, *F;                                 /* at every end; E and F of the closures (`Ties`) */
    LN(Stiffness) *S;
    double near; /* how near to a pole beams are cut, */
    double vanishing; /* and what is nearly nothing beside its couplings */
    int spare;   /* unknowns that may be put off, */
    double faint; /* where this little is left of their pivots; */
    int choosy;  /* whether pivots of the closures are chosen at once */
} LN(Block);

/* Record one pivot, its sign in the count and its size in the determinant; return its inverse. One
   that is exactly zero among terms of some size is known to their rounding only. */
ALWAYS_INLINE VD LN(pivot)(VD p, VD size, LN(Values) *f)
{
#if LANES == 1
    if (p == 0)
        p = size > 0 ? DBL_EPSILON * size : 1e-300, f->hard = -1; /* nothing is left of the terms that cancelled */
#else
    (void)size;
    f->hard |= EQ(p, NONE);
#endif
    f->J += ONE_IF(LT(p, NONE));
    f->m *= p;
#if LANES == 1
    LN(normalise)(f);
#endif
    return 1.0 / p;
}

/* The closure forces that a segment meets, c of them: E (R, c) couples them to its motion; F, of which the
   upper triangle counts, couples them to one another, with as many rows and columns as all closures have;
   Fs adds up the sizes of what was taken from the diagonal of F. */
typedef struct {
    VD *E, *F, *Fs;
    int c, all;
} LN(Ties);

/* Those of segment i. With spare unknowns every segment may meet all. */
ALWAYS_INLINE LN(Ties) LN(ties_of)(const Problem *P, const LN(Block) *K, int i)
{
    const int all = (int)P->c + K->spare, first = K->spare ? 0 : P->first[i];
    return (LN(Ties)){K->E + (size_t)i * (size_t)(P->R * all), K->F + (size_t)first * (size_t)(all + 1),
                      K->F + (size_t)all * (size_t)all + first, K->spare ? all : P->tied[i], all};
}

/* F -= e e' / p for the closure forces. */
static inline void LN(closure_update)(const LN(Ties) *t, const VD *e, VD inv)
{
    for (int i = 0; i < t->c; ++i) {
        VD g = e[i] * inv, *F = t->F + (size_t)i * (size_t)t->all;
        t->Fs[i] += ABS(g * e[i]);
        for (int j = i; j < t->c; ++j)
            F[j] -= g * e[j];
    }
}

/* Dynamic stiffness of a drive: k - w2 J, or the spring k in series with the rotor J. */
ALWAYS_INLINE VD LN(release_stiffness)(VD w2, VD k, VD J, VD series, LN(Values) *f)
{
    VD d = k - w2 * J;
    VI both = ~EQ(series, NONE);
    if (!ANY(both))
        return d;
#if LANES == 1
    if (d == 0)
        d = DBL_EPSILON * k, f->hard = -1;
#else
    f->hard |= both & EQ(d, NONE);
#endif
    f->J += ONE_IF(both & LT(d, NONE));
    f->m *= SEL(both, ABS(d) / k, 1.0 + NONE);
    return SEL(both, -k * w2 * J / d, d);
}

/* The part of the count that the closures and what was put off have: F is eliminated in its order, guarded
   like everything else; a lane in which a pivot is weak beside its terms has its pivots chosen instead, as all
   have that are looked at alone (`choosy`). A
   closure is a constraint, each of its rows takes one negative away; what was put off is not. */
static void LN(closure_count)(const VD *F, int closed, int choosy, VD sigma, LN(Values) *f)
{
    const int all = closed + f->room, c = closed + f->put_off;
    VD left[MAX_CLOSURE * MAX_CLOSURE], size[MAX_CLOSURE];
    LN(Values) g = *f;
    VI weak = choosy ? EQ(NONE, NONE) : BITS(NONE);
    const VI guarded = ~EQ(sigma, NONE);
    for (int i = 0; i < c && !choosy; ++i) {
        memcpy(left + i * c + i, F + i * all + i, sizeof(VD) * (size_t)(c - i));
        size[i] = ABS(F[i * all + i]);
    }
    for (int i = 0; i < c && !choosy; ++i) {
        const VD p = left[i * c + i] + NUMBER(BITS((2 * c * DBL_EPSILON * sigma) * size[i]) & guarded);
        if (i < c - 1)
            weak |= ~LT(WEAK * size[i], ABS(p));
        const VD inv = 1.0 / p;
        g.J += ONE_IF(LT(p, NONE));
        g.m *= p;
        LN(normalise)(&g);
        for (int j = i + 1; j < c; ++j) {
            const VD x = left[i * c + j], y = x * inv;
            size[j] += ABS(x * y);
            for (int k = j; k < c; ++k)
                left[j * c + k] -= y * left[i * c + k];
        }
    }
    weak |= ~EQ(g.hard, f->hard);
    g.hard = f->hard;
    for (int l = 0; l < LANES && ANY(weak); ++l) {
        if (!LANE(weak, l))
            continue;
        double own[MAX_CLOSURE * MAX_CLOSURE], terms[MAX_CLOSURE], own_size[MAX_CLOSURE];
        for (int i = 0; i < c; ++i)
            for (int j = i; j < c; ++j)
                own[i * c + j] = own[j * c + i] = LANE(F[i * all + j], l);
        for (int i = 0; i < c; ++i) {
            own_size[i] = 0;
            for (int k = 0; k < closed && i >= closed; ++k) { /* couplings of what was put off are rounded, too */
                const double others = LANE(F[all * all + k], l);
                if (others > 0)
                    own_size[i] += own[i * c + k] * own[i * c + k] / others;
            }
            terms[i] = i < closed ? LANE(F[all * all + i], l) : own_size[i] + fabs(own[i * c + i]);
        }
        Value v = closures(own, terms, own_size, c, LANE(sigma, l));
        LANE(g.J, l) = LANE(f->J, l) + v.J;
        LANE(g.m, l) = LANE(f->m, l) * v.m;
        LANE(g.e, l) = LANE(f->e, l) + v.e;
    }
    g.J -= (double)closed;
    *f = g;
}

static void LN(load_closures)(const Problem *P, const LN(Block) *K)
{
    const int c = (int)P->c + K->spare, R = (int)P->R;
    for (int i = 0; i < (int)P->n; ++i) {
        const LN(Ties) own = LN(ties_of)(P, K, i);
        memset(own.E, 0, sizeof(VD) * (size_t)(R * own.c));
    }
    for (int k = (int)P->c; k < c; ++k)
        K->F[k * c + k] = 1.0 + NONE; /* nothing is put off yet */
    for (int k = 0; k < (int)P->c; ++k)
        for (int end = 0; end < 2; ++end) {
            const int i = (end ? P->end_b : P->end_a)[k];
            if (i < 0)
                continue;
            const VD *row = (end ? K->rows_b : K->rows_a) + k * R;
            const LN(Ties) own = LN(ties_of)(P, K, i);
            VD *E = own.E + (K->spare ? k : k - P->first[i]);
            for (int j = 0; j < R; ++j)
                E[j * own.c] += row[j];
        }
}

/* One stiffness in every lane. */
ALWAYS_INLINE void LN(spread)(const Stiffness1 *from, int R, LN(Stiffness) *to)
{
    for (int i = 0; i < 3; ++i)
        to->u[i] = from->u[i] + NONE;
    for (int i = 0; i < 10; ++i)
        to->xy[i] = from->xy[i] + NONE;
    for (int i = 0; i < 3 && R == 6; ++i)
        to->phi[i] = from->phi[i] + NONE;
    for (int i = 0; i < 10 && R == 6; ++i)
        to->xz[i] = from->xz[i] + NONE;
    to->J0 = from->J0 + NONE;
    to->pole = (LN(Pole)){from->pole.norm + NONE, from->pole.distance + NONE};
    to->hard = BITS(NONE);
}

#define R 3
#include "_condense.h"
#undef R
#define R 6
#include "_condense.h"
#undef R

/* Room for one block. */
static int LN(make_block)(const Problem *P, LN(Block) *K)
{
    const size_t n = (size_t)P->n, R = (size_t)P->R, c = (size_t)P->c, r = (size_t)P->start[P->n];
    const size_t most = c + (LANES == 1 ? SPARE : 0);
    const size_t parts[] = {n * R * R, n, n * R * R, r * (R + 3), c * R, c * R, r * c,
                            n * R * R, n * R * most, most * most + most};
    VD **table[] = {&K->T, &K->L, &K->root, &K->releases, &K->rows_a, &K->rows_b, &K->ties,
                    &K->D, &K->E, &K->F};
    memset(K, 0, sizeof *K);
    int ok = 1;
    for (int i = 0; i < 10; ++i) {
        size_t bytes = sizeof(VD) * (parts[i] + 1);
        *table[i] = aligned_room(bytes);
        ok &= *table[i] != NULL;
    }
    size_t bytes = sizeof(LN(Stiffness)) * (n + 1);
    K->S = aligned_room(bytes);
    K->near = NEAR, K->vanishing = VANISHING;
    return ok && K->S;
}

static void LN(free_block)(LN(Block) *K)
{
    void *parts[] = {K->T, K->L, K->root, K->releases, K->rows_a, K->rows_b, K->ties, K->D, K->E, K->F, K->S};
    for (int i = 0; i < 11; ++i)
        aligned_free(parts[i]);
}

/* Lay configurations b[0], b[1], .. side by side. */
static void LN(fill_block)(const Problem *P, LN(Block) *K, const int64_t *b)
{
    const int64_t n = P->n, each = n * P->R * P->R, c = P->c * P->R, r = P->start[n] * (P->R + 3);
    const int64_t t = P->start[n] * P->c;
    for (int l = 0; l < LANES; ++l) {
        const double *T = P->T + b[l] * each, *L = P->L + b[l] * n;
        const double *root = P->root + (P->root_stride ? b[l] : 0) * each;
        const double *releases = P->releases + (P->release_stride ? b[l] : 0) * r;
        const double *ties = P->ties + (P->tie_stride ? b[l] : 0) * t;
        for (int64_t i = 0; i < each; ++i)
            LANE(K->T[i], l) = T[i], LANE(K->root[i], l) = root[i];
        for (int64_t i = 0; i < n; ++i)
            LANE(K->L[i], l) = L[i];
        for (int64_t i = 0; i < r; ++i)
            LANE(K->releases[i], l) = releases[i];
        for (int64_t i = 0; i < t; ++i)
            LANE(K->ties[i], l) = ties[i];
        for (int64_t i = 0; i < c; ++i) {
            LANE(K->rows_a[i], l) = P->rows_a[b[l] * c + i];
            LANE(K->rows_b[i], l) = P->rows_b[b[l] * c + i];
        }
    }
}

static void LN(evaluate)(const Problem *P, const LN(Block) *K, VD omega, const Stiffness1 *shared,
                         VD sigma, LN(Values) *f)
{
    if (P->R == 3)
        LN(evaluate3_)(P, K, omega, shared, sigma, f);
    else
        LN(evaluate6_)(P, K, omega, shared, sigma, f);
}
