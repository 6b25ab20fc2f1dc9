/* The kernel of exact modes: dynamic stiffness, certified counts and roots of beam structures.
   Arrays in, arrays out; stable ABI. The Python side is kernels/roots.py. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "_buffers.h"

#define PI 3.14159265358979323846
#define MAX_CLOSURE 64
#define MAX_SEGMENTS 1000000
#define MAX_BATCH ((int64_t)1 << 32)
#define MAX_COUNT 1000000
#define NEAR 1e-2         /* a beam this near to a pole of its stiffness is cut, */
#define LOOKING 1e-4      /* (where a root is looked for and first certified, this near, */
#define NEARER 1e-5       /* and on the grid, which is for estimates, this near) */
#define CUT 0.38196601    /* at this part of its length, */
#define PIECES 6          /* as often as this; */
#define VANISHING 1e-3    /* a pivot this small beside its couplings is not used alone, */
#define VANISHED 1e-6     /* (this small, where only an estimate is wanted) */
#define FAINT 1e-3        /* where a bracket is hard to prove, a pivot this small beside its terms is put off, */
#define SPARE 4           /* as many as this */
#define WEAK 1e-4         /* closures are eliminated in order unless a pivot is this small beside its terms */
#define FAR_OUT 1e6       /* angles up to here are reduced side by side */
#define BEAM_ROUNDING 4.0 /* a beam's own numbers are this much less exact than a sum of terms */
#define STENCIL 16        /* points of the grid that an estimate uses, */
#define TERMS 12          /* terms of its polynomial, those beyond are nothing, */
#define BETWEEN 32        /* parts in which roots between two points are told apart */
#define FINE 3e-12        /* a correction times the one before this small, relative, is the last one; */
#define FINER 1e-12       /* of two roots close together the correction itself */
#define BESIDE 0.01       /* so far beside such a pair, in points of the grid, it is first looked at */
#define TABLE 4096        /* grid points whose beams are kept for all configurations */
#define CURVE 26          /* numbers of a beam's stiffness: u 3, xy 10, xz 10, phi 3 */
#define CURVED 1.0        /* how near a pole a varying beam counts, for its rounding: none is near */
#if defined(__GNUC__)
#define ALWAYS_INLINE static inline __attribute__((always_inline))
#else
#define ALWAYS_INLINE static inline
#endif
#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)

enum { ACTIVE_U = 1, ACTIVE_XY = 2, ACTIVE_XZ = 4, ACTIVE_PHI = 8 };

typedef struct {
    double m, EA, EI[2], shear[2], GJ, rI[2], rIp; /* shear = 1 / kGA, zero without shear */
    unsigned active;                               /* which deformations are allowed, */
    unsigned allowed[2];                           /* as bits of 3 and of 6 coordinates */
    const double *curve;                           /* (terms, CURVE) of a varying beam, else none: */
    double reach;                                  /* its stiffness in powers of w2 / reach, w2 <= reach */
    int terms;
} Beam;

/* A determinant m 2^e and the count of natural frequencies below omega. */
typedef struct {
    double m;
    int64_t e;
    double J;
} Value;

/* A batch of structures of one topology. R: 3 planar, 6 spatial; n segments, B configurations,
   c closure rows. Shapes: beams (n), L (B, n), T (B, n, R, R), root (1 or B, n, R, R),
   tip (n, R, R), releases (1 or B, start[n], R + 3), rows (B, c, R) twice, ties (1 or B, start[n], c):
   what a closure row takes of each release; *_stride tells whether an array has an entry a configuration. */
typedef struct {
    int64_t R, n, B, c, root_stride, release_stride, tie_stride;
    const int32_t *parents, *start, *end_a, *end_b;
    const Beam *beams;
    const double *L, *T, *root, *tip, *releases, *rows_a, *rows_b, *ties;
    int same_lengths; /* whether all configurations have the same lengths */
    int *home;        /* (n) the last segment with the same beam and length: alike beams share one */
    int *heavy;       /* (n) whether a segment has mass at its root */
    int *straight;    /* (n) whether a segment only goes on where its parent ends */
    int *turning;     /* (n) whether a segment begins where its parent ends, turned */
    int *first, *tied; /* (n) closure rows that a segment or what hangs on it may have: the first, how many */
} Problem;

/* Beam stiffnesses at the points of a grid that all configurations share. */
typedef struct {
    void **rows;
    double *omega; /* the points themselves, zero where not yet known */
    int64_t size;
} Table;

/* Room on a boundary of 64 bytes, for vectors. */
static void *aligned_room(size_t bytes)
{
    char *raw = malloc(bytes + 64 + sizeof(void *));
    if (!raw)
        return NULL;
    char *room = raw + sizeof(void *);
    room += 63 & -(uintptr_t)room;
    memcpy(room - sizeof(void *), &raw, sizeof raw);
    return room;
}

static void aligned_free(void *room)
{
    if (room) {
        void *raw;
        memcpy(&raw, (char *)room - sizeof(void *), sizeof raw);
        free(raw);
    }
}

/* Determinant of the static compliance of the end of a cantilever, on R coordinates. */
static double compliance(const Beam *b, double L, int coordinates)
{
    double S = b->active & ACTIVE_U ? L / b->EA : 1.0;
    for (int i = 0; i < (coordinates == 3 ? 1 : 2); ++i)
        if (b->active & (i ? ACTIVE_XZ : ACTIVE_XY))
            S *= L * L / b->EI[i] * (L * L / (12 * b->EI[i]) + b->shear[i]);
    return coordinates == 6 && b->active & ACTIVE_PHI ? S * L / b->GJ : S;
}

/* Exchange rows and columns p and q of a symmetric matrix (c x c). */
static void exchange(double *F, int c, int p, int q)
{
    for (int k = 0; k < c; ++k) {
        const double entry = F[p * c + k];
        F[p * c + k] = F[q * c + k];
        F[q * c + k] = entry;
    }
    for (int k = 0; k < c; ++k) {
        const double entry = F[k * c + p];
        F[k * c + p] = F[k * c + q];
        F[k * c + q] = entry;
    }
}

/* Scale rows and columns of a symmetric matrix F (c x c) alike, by powers of two, until the terms of which its
   entries are the sums are about 1: terms[i] are those of F[i][i], with |terms_ij| <= sqrt(terms_i terms_j).

   The forces of closures are in N and N m and act on parts of very different stiffness, and a pivot that was
   put off is as large as its couplings: unscaled, the largest entries would be those of the smallest unit.
   Scaling changes no digit and no sign of a pivot. Returns the exponent that the determinant has lost. */
static int64_t balance(double *F, const double *terms, double *size, int c)
{
    double factor[MAX_CLOSURE];
    int64_t lost = 0;
    int exponent;
    for (int i = 0; i < c; ++i) {
        frexp(terms[i], &exponent);
        factor[i] = terms[i] > 0 && terms[i] < DBL_MAX ? ldexp(1.0, -exponent / 2) : 1;
    }
    for (int i = 0; i < c; ++i) {
        if (terms[i] > 0)
            continue;
        double largest = 0; /* a closure that only acts on what was put off is scaled by its couplings */
        for (int k = 0; k < c; ++k)
            largest = fmax(largest, fabs(F[i * c + k]) * factor[k]);
        frexp(largest, &exponent);
        factor[i] = largest > 0 && largest < DBL_MAX ? ldexp(1.0, -exponent) : 1;
    }
    for (int i = 0; i < c; ++i) {
        for (int k = 0; k < c; ++k)
            F[i * c + k] *= factor[i] * factor[k];
        size[i] *= factor[i] * factor[i];
        frexp(factor[i], &exponent);
        lost -= 2 * (exponent - 1);
    }
    return lost;
}

/* Inertia and determinant of the closures' Schur complement F (c x c, symmetric, destroyed) by
   Bunch-Parlett elimination: the largest entry left is the pivot, or couples a pair of pivots. `terms` as for
   `balance`.

   Guarded as in _condense.h: to size[i] (destroyed) is added what is taken from F[i][i] here, so that what is
   taken from F[i][j] is at most sqrt(size_i size_j); sigma times a bound of its rounding is added to the
   diagonal before it is a pivot. */
static Value closures(double *F, const double *terms, double *size, int c, double sigma)
{
    const double alpha = 0.6403882032022076; /* (1 + sqrt(17)) / 8 [Bunch1971] */
    const double kappa = 2 * c * DBL_EPSILON * sigma;
    const int64_t lost = balance(F, terms, size, c);
    Value f = {1.0, lost, 0};
    for (int i = 0; i < c;) {

        /* The largest entries of what is left: F[d][d] on the diagonal, F[p][q] beside it. */
        int d = i, p = i, q = i, shift;
        double on_diagonal = fabs(F[i * c + i]), beside = -1;
        for (int j = i; j < c; ++j) {
            if (fabs(F[j * c + j]) > on_diagonal)
                d = j, on_diagonal = fabs(F[j * c + j]);
            for (int k = i; k < j; ++k)
                if (fabs(F[j * c + k]) > beside)
                    p = j, q = k, beside = fabs(F[j * c + k]);
        }
        const int two = p != q && on_diagonal < alpha * beside;
        const int chosen[2] = {two ? q : d, p};
        for (int s = 0; s <= two; ++s) {
            if (chosen[s] != i + s)
                exchange(F, c, chosen[s], i + s);
            const double moved = size[chosen[s]];
            size[chosen[s]] = size[i + s];
            size[i + s] = moved;
            F[(i + s) * c + i + s] += kappa * moved;
        }

        /* The pivot a, or the pair [[a, b], [b, e]] of which one is negative. */
        const double a = F[i * c + i];
        const double b = two ? F[i * c + i + 1] : 0;
        const double e = two ? F[(i + 1) * c + i + 1] : 1;
        const double det = two ? a * e - b * b : a, inverse = 1 / det;
        f.J += two ? 1 : a < 0;
        f.m = frexp(f.m * det, &shift); /* zero, where closures say the same twice: not counted */
        f.e += shift;

        /* F -= x x' / a, or F -= [x u] [[a, b], [b, e]]^-1 [x u]' with the columns x and u of the pair. */
        const double *x = F + i * c, *u = F + (i + 1) * c;
        const double weight_x = (fabs(e) + fabs(b)) * fabs(inverse), weight_u = (fabs(a) + fabs(b)) * fabs(inverse);
        for (int j = i + 1 + two; j < c; ++j) {
            const double of_x = (two ? e * x[j] - b * u[j] : x[j]) * inverse;
            const double of_u = two ? (a * u[j] - b * x[j]) * inverse : 0;
            size[j] += two ? weight_x * (x[j] * x[j]) + weight_u * (u[j] * u[j]) : fabs(of_x * x[j]);
            for (int k = i + 1 + two; k <= j; ++k) {
                F[j * c + k] -= two ? of_x * x[k] + of_u * u[k] : of_x * x[k];
                F[k * c + j] = F[j * c + k];
            }
        }
        i += 1 + two;
    }
    return f;
}

/* The polynomial through values at -(S - 1)/2, .., (S - 1)/2 with S = STENCIL: coefficient i of x^i is
   the sum over j of FIT[i][j] times the sum (i even) or difference (i odd) of the values at +-(j + 1/2). */
static double FIT[STENCIL][STENCIL / 2];
static double NODAL[STENCIL / 2]; /* of the polynomial in x^2 that is zero at them, less its highest term */

static void make_fit(void)
{
    for (int m = 0; m < STENCIL / 2; ++m) {
        const double r = (m + 0.5) * (m + 0.5);
        for (int i = m; i >= 0; --i)
            NODAL[i] = (i ? NODAL[i - 1] : 0) - r * (i == m ? 1 : NODAL[i]);
    }
    for (int j = 0; j < STENCIL / 2; ++j) {
        const double x = j + 0.5;
        double p[STENCIL / 2] = {1}; /* Lagrange's polynomial of x^2, 1 at x^2 */
        for (int m = 0, degree = 0; m < STENCIL / 2; ++m) {
            if (m == j)
                continue;
            const double r = (m + 0.5) * (m + 0.5), scale = 1 / (x * x - r);
            ++degree;
            for (int i = degree; i >= 0; --i)
                p[i] = ((i ? p[i - 1] : 0) - r * p[i]) * scale;
        }
        for (int i = 0; i < STENCIL / 2; ++i)
            FIT[2 * i][j] = p[i] / 2, FIT[2 * i + 1][j] = p[i] / (2 * x);
    }
}

#define LANES 1
#include "_lanes.h"
#include "_beam.h"
#include "_block.h"
#include "_roots.h"
#include "_together.h"
#include "_solve.h"
#undef LANES

#if defined(__GNUC__)
#define LANES 2
#include "_lanes.h"
#include "_beam.h"
#include "_block.h"
#include "_together.h"
#include "_solve.h"
#undef LANES
#if defined(__x86_64__)
#pragma GCC push_options
#pragma GCC target("avx2")
#endif
#define LANES 4
#include "_lanes.h"
#include "_beam.h"
#include "_block.h"
#include "_together.h"
#include "_solve.h"
#undef LANES
#if defined(__x86_64__)
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq,avx512vl")
#define LANES 8
#include "_lanes.h"
#include "_beam.h"
#include "_block.h"
#include "_together.h"
#include "_solve.h"
#undef LANES
#pragma GCC pop_options
#endif
#endif

/* How many configurations go side by side: as many as the processor's vectors hold. */
static int usual_width(void)
{
#if defined(__GNUC__) && defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return 8;
    return __builtin_cpu_supports("avx2") ? 4 : 2;
#elif defined(__GNUC__)
    return 2;
#else
    return 1;
#endif
}

/* ---- Python ---- */

static Beam *unpack_beams(const double *data, int64_t n, int64_t width)
{
    Beam *beams = malloc(sizeof(Beam) * (size_t)(n > 0 ? n : 1));
    for (int64_t i = 0; beams && i < n; ++i) {
        const double *x = data + width * i; /* m EA EIxy EIxz kGAxy kGAxz GJ rIxy rIxz rIp, curve */
        beams[i] = (Beam){x[0], x[1], {x[2], x[3]}, {1 / x[4], 1 / x[5]}, x[6], {x[7], x[8]}, x[9], 0, {0, 0},
                          NULL, 0, 0};
        if (width > 10 && x[10] > 0)
            beams[i].reach = x[10], beams[i].curve = x + 11, beams[i].terms = (int)((width - 11) / CURVE);
        const unsigned on = beams[i].active =
            (isinf(x[1]) ? 0 : ACTIVE_U) | (isinf(x[2]) ? 0 : ACTIVE_XY) |
            (isinf(x[3]) ? 0 : ACTIVE_XZ) | (isinf(x[6]) ? 0 : ACTIVE_PHI);
        beams[i].allowed[0] = (on & ACTIVE_U ? 1 : 0) | (on & ACTIVE_XY ? 6 : 0);
        beams[i].allowed[1] = (on & ACTIVE_U ? 1 : 0) | (on & ACTIVE_XY ? 34 : 0) |
                              (on & ACTIVE_XZ ? 20 : 0) | (on & ACTIVE_PHI ? 8 : 0);
    }
    return beams;
}

enum { PARENTS, START, END_A, END_B, BEAMS, LENGTHS, TRANSFORMS, ROOT, TIP, RELEASES, ROWS_A, ROWS_B,
       TIES, INPUTS };

typedef struct {
    Problem P;
    Py_buffer in[INPUTS];
    int held;
} Input;

static void drop(Input *x)
{
    for (int i = 0; i < x->held; ++i)
        PyBuffer_Release(&x->in[i]);
    free((void *)x->P.beams);
    free(x->P.home);
    free(x->P.heavy);
    free(x->P.straight);
    free(x->P.turning);
    free(x->P.first);
    free(x->P.tied);
}

/* What all evaluations may know beforehand: alike beams, massless roots. */
static void look_ahead(Problem *P, const double *numbers, int64_t width)
{
    const int64_t n = P->n, R = P->R, each = R * R, own = P->root_stride ? P->B : 1;
    P->same_lengths = P->B > 0;
    for (int64_t i = n; i < P->B * n && P->same_lengths; ++i)
        P->same_lengths = P->L[i] == P->L[i % n];
    for (int64_t i = 0; i < n; ++i) {
        P->home[i] = (int)i;
        for (int64_t j = n - 1; j > i && P->home[i] == i; --j) {
            int alike = !memcmp(numbers + width * i, numbers + width * j, (size_t)width * sizeof(double));
            for (int64_t b = 0; alike && b < (P->same_lengths ? 1 : P->B); ++b)
                alike = P->L[b * n + i] == P->L[b * n + j];
            if (alike)
                P->home[i] = (int)j;
        }
        P->heavy[i] = 0;
        for (int64_t b = 0; b < own && !P->heavy[i]; ++b)
            for (int64_t k = 0; k < each; ++k)
                P->heavy[i] |= P->root[(b * n + i) * each + k] != 0;
        const int64_t parent = P->parents[i];
        int straight = parent >= 0 && P->beams[i].curve && P->start[i] == P->start[i + 1];
        for (int64_t k = 0; straight && k < each; ++k)
            straight = P->tip[parent * each + k] == 0;
        for (int64_t k = 0; straight && k < P->B * each; ++k) /* T a unit matrix, but for rounding */
            straight = fabs(P->T[(k / each * n + i) * each + k % each] - (k % each % (R + 1) == 0)) < 1e-9;
        P->straight[i] = straight;
        P->turning[i] = 1;
        for (int64_t k = 0; P->turning[i] && k < P->B * each; ++k) { /* displacements and turns apart */
            const int64_t row = k % each / R, column = k % R, half = R == 3 ? 2 : 3;
            const double t = P->T[(k / each * n + i) * each + k % each];
            P->turning[i] = (row < half) == (column < half) || t == 0;
            if (R == 3 && row == 2 && column == 2)
                P->turning[i] &= t == 1;
        }
    }
}

/* Which closure rows reach a segment: those of its end, those that take its releases, and those of what
   hangs on it, as one range. Legs that meet in a platform have a few each. */
static void look_at_closures(Problem *P)
{
    const int64_t n = P->n, c = P->c, r = P->start[n], own = P->tie_stride ? P->B : 1;
    for (int64_t i = 0; i < n; ++i)
        P->first[i] = (int)c, P->tied[i] = 0; /* until the parents are reached, tied is one past the last */
    for (int64_t i = n - 1; i >= 0; --i) {
        for (int64_t k = 0; k < c; ++k) {
            int reaches = P->end_a[k] == i || P->end_b[k] == i;
            for (int64_t b = 0; b < own; ++b)
                for (int64_t j = P->start[i]; !reaches && j < P->start[i + 1]; ++j)
                    reaches = P->ties[(b * r + j) * c + k] != 0;
            if (reaches && k < P->first[i])
                P->first[i] = (int)k;
            if (reaches && k + 1 > P->tied[i])
                P->tied[i] = (int)(k + 1);
        }
        const int64_t parent = P->parents[i];
        if (parent >= 0 && P->first[i] < P->first[parent])
            P->first[parent] = P->first[i];
        if (parent >= 0 && P->tied[i] > P->tied[parent])
            P->tied[parent] = P->tied[i];
        P->tied[i] = P->tied[i] > P->first[i] ? P->tied[i] - P->first[i] : 0;
        P->first[i] = P->tied[i] ? P->first[i] : 0;
    }
}

static int refuse(const char *words)
{
    PyErr_SetString(PyExc_ValueError, words);
    return 0;
}

/* Whether a buffer holds so many items of one size. */
static int holds(const Py_buffer *x, int64_t items, size_t size)
{
    return items >= 0 && (int64_t)x->len == items * (int64_t)size &&
           (uintptr_t)x->buf % size == 0;
}

/* Whether the structure is a tree whose parents come first, with slices and ends inside it. */
static int sound(Input *x)
{
    Problem *P = &x->P;
    const int64_t n = P->n, R = P->R, B = P->B, c = P->c, each = R * R;
    if ((R != 3 && R != 6) || n < 1 || n > MAX_SEGMENTS || B < 0 || B > MAX_BATCH || c < 0 ||
        c > MAX_CLOSURE || (P->root_stride | P->release_stride) >> 1)
        return refuse("malformed structure: a size is out of bounds");
    if (!holds(&x->in[PARENTS], n, 4) || !holds(&x->in[START], n + 1, 4) ||
        !holds(&x->in[END_A], c, 4) || !holds(&x->in[END_B], c, 4))
        return refuse("malformed structure: a table of integers has another size");
    if (P->start[0] != 0)
        return refuse("malformed structure: start must rise from 0");
    for (int64_t i = 0; i < n; ++i)
        if (P->parents[i] < -1 || P->parents[i] >= i || P->start[i + 1] < P->start[i])
            return refuse("malformed structure: parents must come first, start must rise");
    for (int64_t k = 0; k < c; ++k)
        if (P->end_a[k] < -1 || P->end_a[k] >= n || P->end_b[k] < -1 || P->end_b[k] >= n)
            return refuse("malformed structure: a closure ties a segment that is not there");
    const int64_t r = P->start[n], own = P->root_stride ? B : 1, let = P->release_stride ? B : 1;
    const int64_t width = (int64_t)x->in[BEAMS].len / 8 / n;
    if (width != 10 && (width < 11 + 2 * CURVE || (width - 11) % CURVE))
        return refuse("malformed structure: a row of beams has another length");
    if (r > MAX_SEGMENTS || !holds(&x->in[BEAMS], width * n, 8) || !holds(&x->in[LENGTHS], B * n, 8) ||
        !holds(&x->in[TRANSFORMS], B * n * each, 8) || !holds(&x->in[ROOT], own * n * each, 8) ||
        !holds(&x->in[TIP], n * each, 8) || !holds(&x->in[RELEASES], let * r * (R + 3), 8) ||
        !holds(&x->in[ROWS_A], B * c * R, 8) || !holds(&x->in[ROWS_B], B * c * R, 8) ||
        !(holds(&x->in[TIES], r * c, 8) || holds(&x->in[TIES], B * r * c, 8)))
        return refuse("malformed structure: a table of numbers has another size");
    P->tie_stride = !holds(&x->in[TIES], r * c, 8);
    return 1;
}

/* Read the structure: a tuple (R, n, B, c, root_stride, release_stride, thirteen arrays). */
static int take(PyObject *tuple, Input *x)
{
    memset(x, 0, sizeof *x);
    Problem *P = &x->P;
    PyObject *arrays;
    if (!PyArg_ParseTuple(tuple, "LLLLLLO!", &P->R, &P->n, &P->B, &P->c, &P->root_stride,
                          &P->release_stride, &PyTuple_Type, &arrays))
        return 0;
    if (PyTuple_Size(arrays) != INPUTS)
        return refuse("malformed structure: it has thirteen arrays");
    for (; x->held < INPUTS; ++x->held)
        if (!readable(PyTuple_GetItem(arrays, x->held), &x->in[x->held]))
            return 0;
    P->parents = x->in[PARENTS].buf, P->start = x->in[START].buf;
    P->end_a = x->in[END_A].buf, P->end_b = x->in[END_B].buf;
    P->L = x->in[LENGTHS].buf, P->T = x->in[TRANSFORMS].buf;
    P->root = x->in[ROOT].buf, P->tip = x->in[TIP].buf, P->releases = x->in[RELEASES].buf;
    P->rows_a = x->in[ROWS_A].buf, P->rows_b = x->in[ROWS_B].buf, P->ties = x->in[TIES].buf;
    if (!sound(x))
        return 0;
    const int64_t width = (int64_t)x->in[BEAMS].len / 8 / P->n;
    P->beams = unpack_beams(x->in[BEAMS].buf, P->n, width);
    P->home = malloc(sizeof(int) * (size_t)(P->n + 1));
    P->heavy = malloc(sizeof(int) * (size_t)(P->n + 1));
    P->straight = malloc(sizeof(int) * (size_t)(P->n + 1));
    P->turning = malloc(sizeof(int) * (size_t)(P->n + 1));
    P->first = malloc(sizeof(int) * (size_t)(P->n + 1));
    P->tied = malloc(sizeof(int) * (size_t)(P->n + 1));
    if (!P->beams || !P->home || !P->heavy || !P->straight || !P->turning || !P->first || !P->tied) {
        PyErr_NoMemory();
        return 0;
    }
    look_ahead(P, x->in[BEAMS].buf, width);
    look_at_closures(P);
    return 1;
}

static int solve_with(int lanes, const Problem *P, int64_t count, const int64_t *skip, double guess,
                      double tolerance, double *omega, double *width, int64_t *evals)
{
    Table table = {NULL, NULL, TABLE};
    if (P->same_lengths && P->B > 1) {
        table.rows = calloc(TABLE, sizeof *table.rows);
        table.omega = calloc(TABLE, sizeof *table.omega);
    }
    int ok;
#if defined(__GNUC__) && defined(__x86_64__)
    if (lanes == 8)
        ok = solve8(P, count, skip, guess, tolerance, omega, width, evals, &table);
    else
#endif
#if defined(__GNUC__)
    if (lanes == 4)
        ok = solve4(P, count, skip, guess, tolerance, omega, width, evals, &table);
    else if (lanes == 2)
        ok = solve2(P, count, skip, guess, tolerance, omega, width, evals, &table);
    else
#endif
        ok = solve1(P, count, skip, guess, tolerance, omega, width, evals, &table);
    for (int64_t j = 0; table.rows && j < TABLE; ++j)
        aligned_free(table.rows[j]);
    free(table.rows);
    free(table.omega);
    return ok;
}

static int count_with(int lanes, const Problem *P, const double *omega, double sigma, int64_t *J, double *m,
                      int64_t *e)
{
#if defined(__GNUC__) && defined(__x86_64__)
    if (lanes == 8)
        return count8(P, omega, sigma, J, m, e);
#endif
#if defined(__GNUC__)
    if (lanes == 4)
        return count4(P, omega, sigma, J, m, e);
    if (lanes == 2)
        return count2(P, omega, sigma, J, m, e);
#endif
    return count1(P, omega, sigma, J, m, e);
}

/* solve(structure, count, skip, guess, tolerance, omega, width, evaluations, lanes): fill (B, count);
   rows that cannot be counted become NaN. skip (B,). lanes: 0 as the processor likes, else 1, 2, 4 or 8,
   no more than it has (LANES). */
static PyObject *solve(PyObject *self, PyObject *args)
{
    Input x;
    PyObject *structure;
    Py_buffer skip, omega, width, evals;
    long long count;
    double guess, tolerance;
    int lanes;
    if (!PyArg_ParseTuple(args, "O!LO&ddO&O&O&i", &PyTuple_Type, &structure, &count, readable, &skip, &guess,
                          &tolerance, writable, &omega, writable, &width, writable, &evals, &lanes))
        return NULL;
    int ok = take(structure, &x);
    const int64_t B = x.P.B;
    if (ok && (count < 1 || count > MAX_COUNT || !(guess > 0) || isinf(guess) ||
               !(tolerance >= 1e-15 && tolerance < 1e-2)))
        ok = refuse("count must be 1 to 1000000, guess positive, tolerance 1e-15 to 0.01");
    if (ok && (lanes < 0 || lanes > usual_width() || lanes & (lanes - 1)))
        ok = refuse("lanes must be 0, or 1, 2, 4 or 8 and no more than this processor has");
    if (ok && (!holds(&skip, B, 8) || !holds(&omega, B * count, 8) ||
               !holds(&width, B * count, 8) || !holds(&evals, B, 8)))
        ok = refuse("skip, omega, width or evaluations has another size");
    for (int64_t b = 0; ok && b < B; ++b)
        if (((int64_t *)skip.buf)[b] < 0 || ((int64_t *)skip.buf)[b] > MAX_COUNT)
            ok = refuse("skip must not be negative, and at most 1000000");
    if (ok && B) {
        if (!lanes)
            lanes = usual_width();
        Py_BEGIN_ALLOW_THREADS
        ok = solve_with(lanes, &x.P, count, skip.buf, guess, tolerance, omega.buf, width.buf, evals.buf);
        Py_END_ALLOW_THREADS
        if (!ok)
            PyErr_NoMemory();
    }
    drop(&x);
    PyBuffer_Release(&skip), PyBuffer_Release(&omega), PyBuffer_Release(&width);
    PyBuffer_Release(&evals);
    return ok ? Py_NewRef(Py_None) : NULL;
}

/* count(structure, omega, J, mantissa, exponent, sigma): evaluate configuration b at omega[b], guarded
   against rounding to one side (-1, 1) or not (0), several side by side. J is -1 where the determinant is not finite. */
static PyObject *count(PyObject *self, PyObject *args)
{
    Input x;
    PyObject *structure;
    Py_buffer omega, J, m, e;
    double sigma;
    if (!PyArg_ParseTuple(args, "O!O&O&O&O&d", &PyTuple_Type, &structure, readable, &omega, writable, &J, writable,
                          &m, writable, &e, &sigma))
        return NULL;
    int ok = take(structure, &x);
    const int64_t B = x.P.B;
    if (ok && (!holds(&omega, B, 8) || !holds(&J, B, 8) || !holds(&m, B, 8) || !holds(&e, B, 8)))
        ok = refuse("omega, J, mantissa or exponent has another size");
    if (ok && B) {
        const int lanes = B == 1 ? 1 : usual_width();
        Py_BEGIN_ALLOW_THREADS
        ok = count_with(lanes, &x.P, omega.buf, sigma, J.buf, m.buf, e.buf);
        Py_END_ALLOW_THREADS
        if (!ok)
            PyErr_NoMemory();
    }
    drop(&x);
    PyBuffer_Release(&omega), PyBuffer_Release(&J), PyBuffer_Release(&m), PyBuffer_Release(&e);
    return ok ? Py_NewRef(Py_None) : NULL;
}

/* beam(numbers, length, omega, out): fill (12, 12) over (u0, d); returns the clamped count. */
static PyObject *beam(PyObject *self, PyObject *args)
{
    Py_buffer numbers, out;
    double L, omega;
    if (!PyArg_ParseTuple(args, "O&ddO&", readable, &numbers, &L, &omega, writable, &out))
        return NULL;
    if (!holds(&numbers, 10, 8) || !holds(&out, 144, 8)) {
        PyBuffer_Release(&numbers), PyBuffer_Release(&out);
        return refuse("a beam has ten numbers, and its stiffness 144"), NULL;
    }
    Beam *b = unpack_beams(numbers.buf, 1, 10);
    Stiffness1 s;
    double *K = out.buf, oo[6][6], od[6][6], dd[6][6];
    PyObject *answer = b ? NULL : PyErr_NoMemory();
    if (b) {
        stiffness1(omega * omega, L, b, 6, &s);
        blocks6_1(&s, oo, od, dd);
        for (int i = 0; i < 6; ++i)
            for (int j = 0; j < 6; ++j) {
                K[i * 12 + j] = oo[i][j];
                K[i * 12 + 6 + j] = K[(6 + j) * 12 + i] = od[i][j];
                K[(6 + i) * 12 + 6 + j] = dd[i][j];
            }
        answer = PyLong_FromLongLong(fabs(s.J0) < 9e15 ? (long long)s.J0 : -1);
    }
    free(b);
    PyBuffer_Release(&numbers), PyBuffer_Release(&out);
    return answer;
}

static PyMethodDef methods[] = {
    {"solve", solve, METH_VARARGS, "Certified natural frequencies of a batch of structures."},
    {"count", count, METH_VARARGS, "Wittrick-Williams count and pole-free determinant."},
    {"beam", beam, METH_VARARGS, "Dynamic stiffness of one beam in relative coordinates."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_exact", NULL, -1, methods, NULL, NULL,
                                    NULL, NULL};

PyMODINIT_FUNC PyInit__exact(void)
{
    make_fit();
    PyObject *made = PyModule_Create(&module);
    if (made && PyModule_AddIntConstant(made, "LANES", usual_width()) < 0)
        Py_CLEAR(made);
    return made;
}
