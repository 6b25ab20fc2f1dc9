/* The one compiled kernel: exact dynamic stiffness, certified counts and roots of beam structures.
   Arrays in, arrays out; stable ABI. The Python side is kernels/roots.py. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "_beam.h"

#define MAX_CLOSURE 64
#define MAX_SEGMENTS 1000000
#define MAX_BATCH ((int64_t)1 << 32)
#define MAX_COUNT 1000000
#define NEAR 1e-2      /* a beam this near to a pole of its stiffness is cut, */
#define CUT 0.38196601 /* at this part of its length, */
#define PIECES 6       /* as often as this; */
#define VANISHING 1e-3 /* a pivot this small beside its couplings is not used alone */
#if defined(__GNUC__)
#define ALWAYS_INLINE static inline __attribute__((always_inline))
#else
#define ALWAYS_INLINE static inline
#endif

/* A determinant m 2^e and the count of natural frequencies below omega. */
typedef struct {
    double m;
    int64_t e, J;
} Value;

/* A batch of structures of one topology. R: 3 planar, 6 spatial; n segments, B configurations,
   c closure rows. Shapes: beams (n), L (B, n), T (B, n, R, R), root (1 or B, n, R, R),
   tip (n, R, R), releases (1 or B, start[n], R + 3), rows (B, c, R) twice; *_stride tells
   whether an array has an entry a configuration. */
typedef struct {
    int64_t R, n, B, c, root_stride, release_stride;
    const int32_t *parents, *start, *end_a, *end_b;
    const Beam *beams;
    const double *L, *T, *root, *tip, *releases, *rows_a, *rows_b;
    double *work;
    int *twins;  /* the next segment with the same beam, -1 for none */
    void *cache; /* n beam stiffnesses at the current frequency */
} Problem;

static void normalise(Value *f)
{
    int e;
    f->m = frexp(f->m, &e);
    f->e += e;
}

/* Record one pivot, its sign in the count and its size in the determinant; return its inverse. */
static inline double pivot(double p, Value *f)
{
    if (p == 0)
        p = 1e-300;
    f->J += p < 0;
    f->m *= p;
    return 1.0 / p;
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

/* F -= e e' / p for the closure forces. */
static void closure_update(double *F, const double *e, double inv, int c)
{
    for (int i = 0; i < c; ++i)
        for (int j = 0; j < c; ++j)
            F[i * c + j] -= e[i] * e[j] * inv;
}

/* Dynamic stiffness of a drive: k - w2 J, or the spring k in series with the rotor J. */
static double release_stiffness(double w2, double k, double J, double series, Value *f)
{
    if (series == 0)
        return k - w2 * J;
    double d = k - w2 * J;
    f->J += d < 0;
    f->m *= fabs(d) / k;
    return d == 0 ? INFINITY : -k * w2 * J / d;
}

/* Inertia and determinant of the closures' Schur complement F (c x c, symmetric, destroyed) by
   Bunch-Parlett elimination. A closure is a constraint: each row takes one negative away. */
static void closure_count(double *F, int c, Value *f)
{
    const double alpha = 0.6403882032022076;
    f->J -= c;
    for (int i = 0; i < c;) {
        int d = i, p = i, q = i;
        for (int j = i; j < c; ++j) {
            if (fabs(F[j * c + j]) > fabs(F[d * c + d]))
                d = j;
            for (int k = i; k < j; ++k)
                if (p == q || fabs(F[j * c + k]) > fabs(F[p * c + q]))
                    p = j, q = k;
        }
        int two = p != q && fabs(F[d * c + d]) < alpha * fabs(F[p * c + q]);
        int first = two ? q : d;
        for (int s = 0; s <= two; ++s) {
            int from = s ? p : first, to = i + s;
            for (int k = 0; k < c; ++k) {
                double t = F[from * c + k];
                F[from * c + k] = F[to * c + k], F[to * c + k] = t;
            }
            for (int k = 0; k < c; ++k) {
                double t = F[k * c + from];
                F[k * c + from] = F[k * c + to], F[k * c + to] = t;
            }
        }
        double a = F[i * c + i], b = two ? F[i * c + i + 1] : 0, e = two ? F[(i + 1) * c + i + 1] : 1;
        double det = two ? a * e - b * b : a;
        f->J += two ? 1 : a < 0;
        f->m *= det == 0 ? 1e-300 : det;
        normalise(f);
        for (int j = i + 1 + two; j < c; ++j)
            for (int k = i + 1 + two; k < c; ++k) {
                double x = F[j * c + i], y = F[k * c + i];
                if (two) {
                    double u = F[j * c + i + 1], v = F[k * c + i + 1];
                    F[j * c + k] -= (x * (e * y - b * v) + u * (a * v - b * y)) / det;
                } else
                    F[j * c + k] -= x * y / a;
            }
        i += 1 + two;
    }
}

#define LOAD_CLOSURES(R)                                                                       \
    static void load_closures##R(const Problem *P, int64_t b, double *E)                       \
    {                                                                                          \
        const int c = (int)P->c;                                                               \
        memset(E, 0, sizeof(double) * P->n * R * c);                                           \
        for (int k = 0; k < c; ++k)                                                            \
            for (int i = 0; i < R; ++i) {                                                      \
                if (P->end_a[k] >= 0)                                                          \
                    E[(P->end_a[k] * R + i) * c + k] += P->rows_a[(b * c + k) * R + i];        \
                if (P->end_b[k] >= 0)                                                          \
                    E[(P->end_b[k] * R + i) * c + k] += P->rows_b[(b * c + k) * R + i];        \
            }                                                                                  \
    }
LOAD_CLOSURES(3)
LOAD_CLOSURES(6)

#define R 3
#include "_condense.h"
#undef R
#define R 6
#include "_condense.h"
#undef R

/* A pivot of exactly zero is a pole of what hangs beyond it (a decoupled axial root of a straight arm
   is one) and leaves nothing finite: such a frequency is seen from its neighbour, 1e-15 above. */
static Value evaluate(const Problem *P, int64_t b, double omega)
{
    Value f;
    for (int attempt = 0; attempt < 4; ++attempt) {
        f = P->R == 3 ? evaluate3(P, b, omega) : evaluate6(P, b, omega);
        normalise(&f);
        if (isfinite(f.m) && f.m != 0)
            break;
        omega *= 1 + 4 * DBL_EPSILON;
    }
    return f;
}

/* A determinant that is not finite says nothing, and its count is never used. */
static int counts(Value f)
{
    return isfinite(f.m) && f.m != 0 && f.J >= 0;
}

#include "_roots.h"

/* ---- Python ---- */

static Beam *unpack_beams(const double *data, int64_t n)
{
    Beam *beams = malloc(sizeof(Beam) * (size_t)(n > 0 ? n : 1));
    for (int64_t i = 0; beams && i < n; ++i) {
        const double *x = data + 10 * i; /* m EA EIxy EIxz kGAxy kGAxz GJ rIxy rIxz rIp */
        beams[i] = (Beam){x[0], x[1], {x[2], x[3]}, {1 / x[4], 1 / x[5]}, x[6], {x[7], x[8]}, x[9], 0};
        beams[i].active = (isinf(x[1]) ? 0 : ACTIVE_U) | (isinf(x[2]) ? 0 : ACTIVE_XY) |
                          (isinf(x[3]) ? 0 : ACTIVE_XZ) | (isinf(x[6]) ? 0 : ACTIVE_PHI);
    }
    return beams;
}

enum { PARENTS, START, END_A, END_B, BEAMS, LENGTHS, TRANSFORMS, ROOT, TIP, RELEASES, ROWS_A, ROWS_B,
       INPUTS };

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
    free(x->P.work);
    free(x->P.twins);
    free(x->P.cache);
}

static void find_twins(Problem *P, const double *numbers)
{
    for (int64_t i = 0; i < P->n; ++i) {
        P->twins[i] = -1;
        for (int64_t j = i + 1; j < P->n && P->twins[i] < 0; ++j)
            if (!memcmp(numbers + 10 * i, numbers + 10 * j, 10 * sizeof(double)))
                P->twins[i] = (int)j;
    }
}

static int refuse(const char *words)
{
    PyErr_SetString(PyExc_ValueError, words);
    return 0;
}

/* Whether a buffer holds so many items of one kind ('d' or 'i') and size, in one piece. */
static int holds(const Py_buffer *x, int64_t items, size_t size)
{
    return items >= 0 && (int64_t)x->len == items * (int64_t)size &&
           (uintptr_t)x->buf % size == 0;
}

/* Whether the structure is a tree whose parents come first, with slices and ends inside it. */
static int sound(const Input *x)
{
    const Problem *P = &x->P;
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
    if (r > MAX_SEGMENTS || !holds(&x->in[BEAMS], 10 * n, 8) || !holds(&x->in[LENGTHS], B * n, 8) ||
        !holds(&x->in[TRANSFORMS], B * n * each, 8) || !holds(&x->in[ROOT], own * n * each, 8) ||
        !holds(&x->in[TIP], n * each, 8) || !holds(&x->in[RELEASES], let * r * (R + 3), 8) ||
        !holds(&x->in[ROWS_A], B * c * R, 8) || !holds(&x->in[ROWS_B], B * c * R, 8))
        return refuse("malformed structure: a table of numbers has another size");
    return 1;
}

/* Read the structure: a tuple (R, n, B, c, root_stride, release_stride, twelve arrays). */
static int take(PyObject *tuple, Input *x)
{
    memset(x, 0, sizeof *x);
    Problem *P = &x->P;
    PyObject *arrays;
    if (!PyArg_ParseTuple(tuple, "LLLLLLO!", &P->R, &P->n, &P->B, &P->c, &P->root_stride,
                          &P->release_stride, &PyTuple_Type, &arrays))
        return 0;
    if (PyTuple_Size(arrays) != INPUTS)
        return refuse("malformed structure: it has twelve arrays");
    for (; x->held < INPUTS; ++x->held)
        if (PyObject_GetBuffer(PyTuple_GetItem(arrays, x->held), &x->in[x->held], PyBUF_SIMPLE) < 0)
            return 0;
    P->parents = x->in[PARENTS].buf, P->start = x->in[START].buf;
    P->end_a = x->in[END_A].buf, P->end_b = x->in[END_B].buf;
    P->L = x->in[LENGTHS].buf, P->T = x->in[TRANSFORMS].buf;
    P->root = x->in[ROOT].buf, P->tip = x->in[TIP].buf, P->releases = x->in[RELEASES].buf;
    P->rows_a = x->in[ROWS_A].buf, P->rows_b = x->in[ROWS_B].buf;
    if (!sound(x))
        return 0;
    P->beams = unpack_beams(x->in[BEAMS].buf, P->n);
    P->work = malloc(sizeof(double) * (size_t)(P->n * P->R * (P->R + P->c) + P->c * P->c + 1));
    P->twins = malloc(sizeof(int) * (size_t)(P->n + 1));
    P->cache = malloc(sizeof(Stiffness6) * (size_t)(P->n + 1));
    if (!P->beams || !P->work || !P->twins || !P->cache) {
        PyErr_NoMemory();
        return 0;
    }
    find_twins(P, x->in[BEAMS].buf);
    return 1;
}

/* solve(structure, count, skip, guess, tolerance, omega, width, evaluations): fill (B, count); rows
   that cannot be counted become NaN. skip (B,). */
static PyObject *solve(PyObject *self, PyObject *args)
{
    Input x;
    PyObject *structure;
    Py_buffer skip, omega, width, evals;
    long long count;
    double guess, tolerance;
    if (!PyArg_ParseTuple(args, "O!Ly*ddw*w*w*", &PyTuple_Type, &structure, &count, &skip, &guess,
                          &tolerance, &omega, &width, &evals))
        return NULL;
    int ok = take(structure, &x);
    const int64_t B = x.P.B;
    if (ok && (count < 1 || count > MAX_COUNT || !(guess > 0) || isinf(guess) || !(tolerance > 0)))
        ok = refuse("count, guess and tolerance must be positive, and count at most 1000000");
    if (ok && (!holds(&skip, B, 8) || !holds(&omega, B * count, 8) ||
               !holds(&width, B * count, 8) || !holds(&evals, B, 8)))
        ok = refuse("skip, omega, width or evaluations has another size");
    for (int64_t b = 0; ok && b < B; ++b)
        if (((int64_t *)skip.buf)[b] < 0 || ((int64_t *)skip.buf)[b] > MAX_COUNT)
            ok = refuse("skip must not be negative, and at most 1000000");
    Point *points = ok ? malloc(sizeof(Point) * 2 * (size_t)count) : NULL;
    if (ok && !points) {
        PyErr_NoMemory();
        ok = 0;
    }
    if (ok) {
        Py_BEGIN_ALLOW_THREADS
        for (int64_t b = 0; b < B; ++b) {
            Search s = {&x.P, b, ((int64_t *)skip.buf)[b], count, 0, 0, points, points + count};
            double *roots = (double *)omega.buf + b * count, *around = (double *)width.buf + b * count;
            if (!search(&s, guess, tolerance, roots, around))
                for (int64_t k = 0; k < count; ++k)
                    roots[k] = around[k] = NAN;
            ((int64_t *)evals.buf)[b] = s.evaluations;
        }
        Py_END_ALLOW_THREADS
    }
    free(points);
    drop(&x);
    PyBuffer_Release(&skip), PyBuffer_Release(&omega), PyBuffer_Release(&width);
    PyBuffer_Release(&evals);
    return ok ? Py_NewRef(Py_None) : NULL;
}

/* count(structure, omega, J, mantissa, exponent): evaluate configuration b at omega[b]. J is -1 where
   the determinant is not finite. */
static PyObject *count(PyObject *self, PyObject *args)
{
    Input x;
    PyObject *structure;
    Py_buffer omega, J, m, e;
    if (!PyArg_ParseTuple(args, "O!y*w*w*w*", &PyTuple_Type, &structure, &omega, &J, &m, &e))
        return NULL;
    int ok = take(structure, &x);
    const int64_t B = x.P.B;
    if (ok && (!holds(&omega, B, 8) || !holds(&J, B, 8) || !holds(&m, B, 8) || !holds(&e, B, 8)))
        ok = refuse("omega, J, mantissa or exponent has another size");
    for (int64_t b = 0; ok && b < B; ++b) {
        Value f = evaluate(&x.P, b, ((double *)omega.buf)[b]);
        ((int64_t *)J.buf)[b] = counts(f) ? f.J : -1;
        ((double *)m.buf)[b] = f.J & 1 ? -fabs(f.m) : fabs(f.m);
        ((int64_t *)e.buf)[b] = f.e;
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
    if (!PyArg_ParseTuple(args, "y*ddw*", &numbers, &L, &omega, &out))
        return NULL;
    if (!holds(&numbers, 10, 8) || !holds(&out, 144, 8)) {
        PyBuffer_Release(&numbers), PyBuffer_Release(&out);
        return refuse("a beam has ten numbers, and its stiffness 144"), NULL;
    }
    Beam *b = unpack_beams(numbers.buf, 1);
    Stiffness6 s;
    double *K = out.buf;
    if (b)
        stiffness6(omega * omega, L, b, &s);
    for (int i = 0; b && i < 6; ++i)
        for (int j = 0; j < 6; ++j) {
            K[i * 12 + j] = s.oo[i][j];
            K[i * 12 + 6 + j] = K[(6 + j) * 12 + i] = s.od[i][j];
            K[(6 + i) * 12 + 6 + j] = s.dd[i][j];
        }
    PyObject *answer = b ? PyLong_FromLongLong(s.J0) : PyErr_NoMemory();
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
    return PyModule_Create(&module);
}
