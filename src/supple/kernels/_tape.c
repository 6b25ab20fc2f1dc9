/* Tapes: straight-line programs over doubles, run for one set of inputs or many, and stepped by rk4 or
   collocation.
   The Python side is kernels/tape.py; stable ABI.

   Every value has a place of its own: inputs, constants, then one result after another in the order
   of the program. A program is a list of runs of equal operations, so that what to do next is asked
   once a run and not once an operation. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "_buffers.h"

#define LANES 8 /* sets of inputs that are worked out side by side */
#define FEW 4   /* the same where more values would not stay in the cache */
#define CACHE 500 /* values that do with all lanes */
#define TERMS 24 /* of the Chebyshev series on a piece of a table */
#define NAME "supple.tape"

enum {
    ADD, SUB, MUL, DIV, MULADD, MULSUB, SUBMUL, NEG, SIN, COS, TANH,
    ABS, SQRT, LESS, NOT, WHERE, UPTO, ATAN2, ASIN, LARGER, SMALLER, EXP, LOOKUP,
    DOT2, DOT3, DOT4, DOT5, DOT6, KINDS
};
static const int OPERANDS[KINDS] = {2, 2, 2, 2, 3, 3, 3, 1, 1, 1, 1, 1, 1,
                                    2, 1, 2, 2, 2, 1, 2, 2, 1, 4, 4, 6, 8, 10, 12};

typedef struct {
    int64_t inputs, constants, results, outputs, runs, operands, numbers;
    int32_t *run;     /* (runs, 2): kind, how many */
    int32_t *operand; /* (operands): places, one operation after another */
    int32_t *output;  /* (outputs): places */
    double *constant;
    Py_buffer table; /* (numbers): series of rows on pieces, wherever a LOOKUP says they are; not a copy */
} Tape;

static void drop_tape(Tape *t)
{
    if (t) {
        free(t->run), free(t->operand), free(t->output), free(t->constant);
        PyBuffer_Release(&t->table);
    }
    free(t);
}

static void forget(PyObject *capsule)
{
    drop_tape(PyCapsule_GetPointer(capsule, NAME));
}

/* The piece of a table in which x is, of unit width each, 0 first, and Chebyshev's polynomials there. What
   is beyond the ends is at them. */
static int64_t piece_of(double x, int64_t pieces, double *T)
{
    x = x < 0.0 ? 0.0 : x > (double)pieces ? (double)pieces : x;
    const int64_t k = x >= 1.0 ? (x < (double)pieces ? (int64_t)x : pieces - 1) : 0;
    const double s = 2.0 * (x - (double)k) - 1.0;
    T[0] = 1.0, T[1] = s;
    for (int j = 2; j < TERMS; ++j)
        T[j] = 2.0 * s * T[j - 1] - T[j - 2];
    return k;
}

static double summed(const double *c, const double *T)
{
    double sum[4] = {0.0}; /* side by side */
    for (int j = 0; j < TERMS; j += 4)
        for (int l = 0; l < 4; ++l)
            sum[l] += c[j + l] * T[j + l];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* The program on L sets of values w (places, lanes), inputs and constants filled in. Lanes are worked out
   together where the compiler knows vectors, one after another elsewhere: the same bits. */
#if defined(__GNUC__)
#define TOGETHER(L) typedef double V __attribute__((vector_size(8 * L), aligned(8), may_alias))
#define AT(k) (*(const V *)(w + (int64_t)p[k] * L))
#define PUT(value) *(V *)r = (value)
#else
#define TOGETHER(L) enum { WIDE = L }
#define AT(k) w[(int64_t)p[k] * L + l]
#define PUT(value)                   \
    for (int l = 0; l < L; ++l)      \
    r[l] = (value)
#endif
#define ALL(n, value)                                       \
    for (int64_t i = 0; i < count; ++i, p += n, r += L)     \
        PUT(value);                                         \
    break
#define EACH(n, what)                                       \
    for (int64_t i = 0; i < count; ++i, p += n, r += L) {   \
        const double *a = w + (int64_t)p[0] * L;            \
        const double *b = w + (int64_t)p[n > 1] * L;        \
        (void)b;                                            \
        for (int l = 0; l < L; ++l)                         \
            r[l] = what;                                    \
    }                                                       \
    break

/* `count` rows of tables: places of x, of where the row begins, from piece to piece, and of their number.
   Lanes in one piece, as stages of a step mostly are, are summed up together. */
#define DEFINE_LOOK_UP(name, L_)                                                                           \
    static void name(const Tape *t, const double *w, const int32_t *p, double *r, int64_t count)           \
    {                                                                                                      \
        enum { L = L_ };                                                                                   \
        double T[L][TERMS], side[TERMS][L];                                                                \
        int64_t piece[L];                                                                                  \
        int alike = 0;                                                                                     \
        for (int64_t i = 0; i < count; ++i, p += 4, r += L) {                                              \
            if (!i || p[0] != p[-4] || p[3] != p[-1]) {                                                    \
                alike = L > 1;                                                                             \
                for (int l = 0; l < L; ++l) {                                                              \
                    piece[l] = piece_of(w[(int64_t)p[0] * L + l], (int64_t)w[(int64_t)p[3] * L], T[l]);    \
                    alike = alike && piece[l] == piece[0];                                                 \
                    for (int j = 0; j < TERMS; ++j)                                                        \
                        side[j][l] = T[l][j];                                                              \
                }                                                                                          \
            }                                                                                              \
            const double *row = (const double *)t->table.buf + (int64_t)w[(int64_t)p[1] * L];              \
            const int64_t stride = (int64_t)w[(int64_t)p[2] * L];                                          \
            if (alike)                                                                                     \
                summed_together_##name(row + piece[0] * stride, side[0], r);                               \
            else                                                                                           \
                for (int l = 0; l < L; ++l)                                                                \
                    r[l] = summed(row + piece[l] * stride, T[l]);                                          \
        }                                                                                                  \
    }

/* The same sums as `summed`, in the same order, for all lanes. */
#if defined(__GNUC__)
#define DEFINE_SUMMED(name, L_)                                                                            \
    static inline void summed_together_##name(const double *c, const double *w, double *r)                 \
    {                                                                                                      \
        enum { L = L_ };                                                                                   \
        TOGETHER(L_);                                                                                      \
        V a = {0.0}, b = {0.0}, d = {0.0}, e = {0.0};                                                      \
        for (int j = 0; j < TERMS; j += 4, w += 4 * L) {                                                   \
            a += c[j] * *(const V *)w, b += c[j + 1] * *(const V *)(w + L);                                \
            d += c[j + 2] * *(const V *)(w + 2 * L), e += c[j + 3] * *(const V *)(w + 3 * L);              \
        }                                                                                                  \
        *(V *)r = (a + b) + (d + e);                                                                       \
    }
#else
#define DEFINE_SUMMED(name, L_)                                                                            \
    static void summed_together_##name(const double *c, const double *w, double *r)                        \
    {                                                                                                      \
        for (int l = 0; l < L_; ++l) {                                                                     \
            double sum[4] = {0.0};                                                                         \
            for (int j = 0; j < TERMS; ++j)                                                                \
                sum[j % 4] += c[j] * w[j * L_ + l];                                                        \
            r[l] = (sum[0] + sum[1]) + (sum[2] + sum[3]);                                                  \
        }                                                                                                  \
    }
#endif

#define DEFINE(name, L_)                                                        \
    DEFINE_SUMMED(look_up_##name, L_)                                           \
    DEFINE_LOOK_UP(look_up_##name, L_)                                          \
    DEFINE_PROGRAM(name, L_)

#define DEFINE_PROGRAM(name, L_)                                                       \
    static void name(const Tape *t, double *w)                                  \
    {                                                                           \
        enum { L = L_ };                                                        \
        TOGETHER(L_);                                                           \
        const int32_t *p = t->operand;                                          \
        double *r = w + (t->inputs + t->constants) * L;                         \
        for (int64_t k = 0; k < t->runs; ++k) {                                 \
            const int64_t count = t->run[2 * k + 1];                            \
            switch (t->run[2 * k]) {                                            \
            case ADD: ALL(2, AT(0) + AT(1));                                    \
            case SUB: ALL(2, AT(0) - AT(1));                                    \
            case MUL: ALL(2, AT(0) * AT(1));                                    \
            case DIV: ALL(2, AT(0) / AT(1));                                    \
            case MULADD: ALL(3, AT(0) * AT(1) + AT(2));                         \
            case MULSUB: ALL(3, AT(0) * AT(1) - AT(2));                         \
            case SUBMUL: ALL(3, AT(2) - AT(0) * AT(1));                         \
            case NEG: ALL(1, -AT(0));                                           \
            case SIN: EACH(1, sin(a[l]));                                       \
            case COS: EACH(1, cos(a[l]));                                       \
            case TANH: EACH(1, tanh(a[l]));                                     \
            case ABS: EACH(1, fabs(a[l]));                                      \
            case SQRT: EACH(1, sqrt(a[l]));                                     \
            case LESS: EACH(2, a[l] < b[l] ? 1.0 : 0.0);                        \
            case NOT: EACH(1, a[l] == 0.0 ? 1.0 : 0.0);                         \
            case WHERE: EACH(2, a[l] != 0.0 ? b[l] : 0.0);                      \
            case UPTO: EACH(2, a[l] <= b[l] ? 1.0 : 0.0);                       \
            case ATAN2: EACH(2, atan2(a[l], b[l]));                             \
            case ASIN: EACH(1, asin(a[l]));                                     \
            case LARGER: EACH(2, fmax(a[l], b[l]));                             \
            case SMALLER: EACH(2, fmin(a[l], b[l]));                            \
            case EXP: EACH(1, exp(a[l]));                                       \
            case LOOKUP: look_up_##name(t, w, p, r, count), p += 4 * count, r += L * count; break; \
            case DOT2: ALL(4, AT(0) * AT(1) + AT(2) * AT(3));                   \
            case DOT3: ALL(6, AT(0) * AT(1) + AT(2) * AT(3) + AT(4) * AT(5));   \
            case DOT4: ALL(8, AT(0) * AT(1) + AT(2) * AT(3) + AT(4) * AT(5) + AT(6) * AT(7)); \
            case DOT5: ALL(10, AT(0) * AT(1) + AT(2) * AT(3) + AT(4) * AT(5) + AT(6) * AT(7) + AT(8) * AT(9)); \
            case DOT6: ALL(12, AT(0) * AT(1) + AT(2) * AT(3) + AT(4) * AT(5) + AT(6) * AT(7) + AT(8) * AT(9) \
                               + AT(10) * AT(11));                              \
            }                                                                   \
        }                                                                       \
    }

DEFINE(run_one, 1)
DEFINE(run_few_plain, FEW)
DEFINE(run_lanes_plain, LANES)
#if defined(__GNUC__) && defined(__x86_64__)
#pragma GCC push_options
#pragma GCC target("avx2")
DEFINE(run_few_wide, FEW)
DEFINE(run_lanes_wide, LANES)
#pragma GCC pop_options
#define WIDE(name) (__builtin_cpu_supports("avx2") ? name##_wide : name##_plain)
#else
#define WIDE(name) name##_plain
#endif

/* How many of a batch are worked out side by side. */
static int64_t lanes_of(const Tape *t, int64_t batch)
{
    const int64_t values = t->inputs + t->constants + t->results;
    return batch > FEW && values <= CACHE ? LANES : batch > 1 ? FEW : 1;
}

/* Room for all values, the constants filled in. */
static double *room(const Tape *t, int64_t lanes)
{
    double *w = malloc(sizeof(double) * (size_t)((t->inputs + t->constants + t->results + 1) * lanes));
    for (int64_t i = 0; w && i < t->constants; ++i)
        for (int64_t l = 0; l < lanes; ++l)
            w[(t->inputs + i) * lanes + l] = t->constant[i];
    return w;
}

static PyObject *refuse(const char *what)
{
    PyErr_SetString(PyExc_ValueError, what);
    return NULL;
}

/* Whether every operand stands before what is made from it, and every run and output is known. */
static int sound(const Tape *t)
{
    int64_t at = t->inputs + t->constants, used = 0;
    for (int64_t k = 0; k < t->runs; ++k) {
        const int32_t kind = t->run[2 * k], count = t->run[2 * k + 1];
        if (kind < 0 || kind >= KINDS || count < 0)
            return 0;
        for (int64_t i = 0; i < count; ++i, ++at)
            for (int j = 0; j < OPERANDS[kind]; ++j, ++used)
                if (used >= t->operands || t->operand[used] < 0 || t->operand[used] >= at)
                    return 0;
        for (int64_t i = 0; kind == LOOKUP && i < count; ++i) { /* its rows lie in the tables */
            double own[3];
            for (int j = 0; j < 3; ++j) {
                const int64_t place = t->operand[used - 4 * count + 4 * i + 1 + j] - t->inputs;
                own[j] = place >= 0 && place < t->constants ? t->constant[place] : -1.0;
            }
            if (!(own[0] >= 0.0 && own[1] >= 0.0 && own[2] >= 1.0 &&
                  own[0] + (own[2] - 1.0) * own[1] + TERMS <= (double)t->numbers))
                return 0;
        }
    }
    for (int64_t i = 0; i < t->outputs; ++i)
        if (t->output[i] < 0 || t->output[i] >= at)
            return 0;
    return used == t->operands && at == t->inputs + t->constants + t->results;
}

static void *copied(const Py_buffer *from)
{
    void *out = malloc((size_t)from->len + 1);
    return out ? memcpy(out, from->buf, (size_t)from->len) : NULL;
}

/* program(inputs, constants, runs, operands, outputs, tables): a capsule, checked once for all. */
static PyObject *program(PyObject *self, PyObject *args)
{
    long long inputs;
    Py_buffer given[5];
    if (!PyArg_ParseTuple(args, "LO&O&O&O&O&", &inputs, readable, &given[0], readable, &given[1], readable,
                          &given[2], readable, &given[3], readable, &given[4]))
        return NULL;
    PyObject *out = NULL;
    Tape *t = calloc(1, sizeof(Tape));
    if (t && inputs >= 0 && inputs < INT32_MAX && given[0].len / 8 + given[2].len / 4 < INT32_MAX) {
        t->inputs = inputs, t->constants = given[0].len / 8, t->runs = given[1].len / 8;
        t->operands = given[2].len / 4, t->outputs = given[3].len / 4, t->numbers = given[4].len / 8;
        t->constant = copied(&given[0]), t->run = copied(&given[1]);
        t->operand = copied(&given[2]), t->output = copied(&given[3]);
        t->table = given[4];
        if (t->constant && t->run && t->operand && t->output) {
            for (int64_t k = 0; k < t->runs; ++k)
                t->results += t->run[2 * k + 1];
            out = sound(t) ? PyCapsule_New(t, NAME, forget) : refuse("this is no program of a tape");
        } else
            PyErr_NoMemory();
    } else
        t ? (void)refuse("this is no program of a tape") : (void)PyErr_NoMemory();
    if (!t || !t->table.obj)
        PyBuffer_Release(&given[4]);
    if (!out)
        drop_tape(t);
    for (int i = 0; i < 4; ++i)
        PyBuffer_Release(&given[i]);
    return out;
}

static Tape *tape_of(PyObject *capsule)
{
    return PyCapsule_GetPointer(capsule, NAME);
}

static void evaluate_all(const Tape *t, const double *x, double *out, int64_t batch, double *w)
{
    const int64_t L = lanes_of(t, batch);
    for (int64_t at = 0; at < batch; at += L) {
        for (int64_t l = 0; l < L; ++l) { /* the last one fills what is left over */
            const double *row = x + (at + l < batch ? at + l : batch - 1) * t->inputs;
            for (int64_t i = 0; i < t->inputs; ++i)
                w[i * L + l] = row[i];
        }
        (L == LANES ? WIDE(run_lanes) : L > 1 ? WIDE(run_few) : run_one)(t, w);
        for (int64_t l = 0; l < L && at + l < batch; ++l)
            for (int64_t i = 0; i < t->outputs; ++i)
                out[(at + l) * t->outputs + i] = w[(int64_t)t->output[i] * L + l];
    }
}

/* evaluate(program, x (batch, inputs), out (batch, outputs)) */
static PyObject *evaluate(PyObject *self, PyObject *args)
{
    PyObject *capsule, *answer = NULL;
    Py_buffer x, out;
    if (!PyArg_ParseTuple(args, "OO&O&", &capsule, readable, &x, writable, &out))
        return NULL;
    const Tape *t = tape_of(capsule);
    const int64_t batch = t && t->outputs ? out.len / 8 / t->outputs : 0;
    if (t && (out.len != 8 * batch * t->outputs || x.len != 8 * batch * t->inputs))
        refuse("the arrays do not fit the program of this tape");
    else if (t) {
        double *w = room(t, lanes_of(t, batch));
        if (w) {
            Py_BEGIN_ALLOW_THREADS
            evaluate_all(t, x.buf, out.buf, batch, w);
            Py_END_ALLOW_THREADS
            answer = Py_NewRef(Py_None);
        } else
            PyErr_NoMemory();
        free(w);
    }
    PyBuffer_Release(&x), PyBuffer_Release(&out);
    return answer;
}

static void rate_at(const Tape *t, double *w, const double *x, const double *u, double *k)
{
    memcpy(w, x, sizeof(double) * (size_t)t->outputs);
    memcpy(w + t->outputs, u, sizeof(double) * (size_t)(t->inputs - t->outputs));
    run_one(t, w);
    for (int64_t i = 0; i < t->outputs; ++i)
        k[i] = w[t->output[i]];
}

/* Steps of the classical Runge-Kutta method: the inputs of the program are x and u. */
static void step_all(const Tape *t, const double *x, const double *p, double *out, int64_t steps,
                     double *w, double *k)
{
    const int64_t n = t->outputs, width = t->inputs - n;
    double *k1 = k, *k2 = k + n, *k3 = k + 2 * n, *k4 = k + 3 * n, *y = k + 4 * n;
    for (int64_t s = 0; s < steps; ++s, p += 3 * width + 1, x = out, out += n) {
        const double h = p[3 * width], half = h / 2;
        rate_at(t, w, x, p, k1);
        for (int64_t i = 0; i < n; ++i)
            y[i] = x[i] + half * k1[i];
        rate_at(t, w, y, p + width, k2);
        for (int64_t i = 0; i < n; ++i)
            y[i] = x[i] + half * k2[i];
        rate_at(t, w, y, p + width, k3);
        for (int64_t i = 0; i < n; ++i)
            y[i] = x[i] + h * k3[i];
        rate_at(t, w, y, p + 2 * width, k4);
        for (int64_t i = 0; i < n; ++i)
            out[i] = x[i] + h / 6 * (k1[i] + k4[i] + 2 * (k2[i] + k3[i]));
    }
}

/* rk4(program, x (n), p (steps, 3 width + 1), out (steps, n)): p is [u(t), u(t + h/2), u(t + h), h]. */
static PyObject *rk4(PyObject *self, PyObject *args)
{
    PyObject *capsule, *answer = NULL;
    Py_buffer x, p, out;
    if (!PyArg_ParseTuple(args, "OO&O&O&", &capsule, readable, &x, readable, &p, writable, &out))
        return NULL;
    const Tape *t = tape_of(capsule);
    const int64_t n = t ? t->outputs : 0, width = t ? t->inputs - n : 0;
    const int64_t steps = n ? out.len / 8 / n : 0;
    if (t && (width < 0 || x.len != 8 * n || out.len != 8 * steps * n || p.len != 8 * steps * (3 * width + 1)))
        refuse("the arrays do not fit the program of this tape");
    else if (t) {
        double *w = room(t, 1), *k = malloc(sizeof(double) * (size_t)(5 * n + 1));
        if (w && k) {
            Py_BEGIN_ALLOW_THREADS
            step_all(t, x.buf, p.buf, out.buf, steps, w, k);
            Py_END_ALLOW_THREADS
            answer = Py_NewRef(Py_None);
        } else
            PyErr_NoMemory();
        free(w), free(k);
    }
    PyBuffer_Release(&x), PyBuffer_Release(&p), PyBuffer_Release(&out);
    return answer;
}

#include "_collocate.h"

static PyMethodDef methods[] = {
    {"program", program, METH_VARARGS, "A checked program."},
    {"evaluate", evaluate, METH_VARARGS, "Its outputs at one set of inputs or many."},
    {"rk4", rk4, METH_VARARGS, "States after steps of x' = f(x, u)."},
    {"collocate", collocate, METH_VARARGS, "One implicit step by collocation."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_tape", NULL, -1, methods, NULL, NULL,
                                    NULL, NULL};

PyMODINIT_FUNC PyInit__tape(void)
{
    return PyModule_Create(&module);
}
