/* One implicit step by collocation: stage accelerations that drive a residual to zero.

   A row of x is [q, qd, qdd, u, w] of a stage, one of `out` is [r, .., w]: r over (q, qd, qdd) and
   inputs u, and w nearer to where the followers of loops are. Newton's method with one matrix for all
   stages, which falls apart into a complex one for each pair of eigenvalues of the method, and with
   what the last iterations have shown of it (Broyden): `learned` holds pairs of vectors, each of which
   betters what stands before it. The equations are in integration/steppers/collocated.py. */

typedef struct {
    int64_t stages, n, held, width, follow, inputs, outputs, most, learns;
    double h, close;
    const double *start;         /* q, qd */
    const double *c, *a, *twice; /* nodes (s), coefficients (s, s) and their square */
    const double *split;         /* (s / 2, 4, s): rows of stages to a pair, and back, re and im */
    const double *inverse;       /* (s / 2, 2, n, n), re and im */
    double *learned;             /* (learns, 2 s n + 1): change, change before, 1 / how far along */
    int64_t *count;              /* pairs of vectors that were learned so far */
    double *x, *out;
} Step;

/* Places and speeds of all stages; the first `held` coordinates stay as they were given. */
static void place_stages(const Step *p)
{
    const int64_t s = p->stages, n = p->n;
    for (int64_t i = 0; i < s; ++i) {
        double *row = p->x + i * p->inputs;
        for (int64_t k = p->held; k < n; ++k) {
            double q = 0.0, v = 0.0;
            for (int64_t j = 0; j < s; ++j) {
                const double acc = p->x[j * p->inputs + 2 * n + k];
                q += p->twice[i * s + j] * acc, v += p->a[i * s + j] * acc;
            }
            row[k] = p->start[k] + p->h * (p->c[i] * p->start[n + k] + p->h * q);
            row[n + k] = p->start[n + k] + p->h * v;
        }
    }
}

/* (re, im) = G (a, b) of one complex matrix, its parts one after the other. */
static void times(const double *G, const double *a, const double *b, double *re, double *im, int64_t n)
{
    for (int64_t i = 0; i < n; ++i) {
        const double *R = G + i * n, *I = G + (n + i) * n;
        double x[4] = {0.0}, y[4] = {0.0}; /* side by side */
        int64_t k = 0;
        for (; k + 4 <= n; k += 4)
            for (int l = 0; l < 4; ++l) {
                x[l] += R[k + l] * a[k + l] - I[k + l] * b[k + l];
                y[l] += R[k + l] * b[k + l] + I[k + l] * a[k + l];
            }
        for (; k < n; ++k) {
            x[k & 3] += R[k] * a[k] - I[k] * b[k];
            y[k & 3] += R[k] * b[k] + I[k] * a[k];
        }
        re[i] = x[0] + x[1] + x[2] + x[3], im[i] = y[0] + y[1] + y[2] + y[3];
    }
}

/* change = -inverse r, as the matrices alone have it. */
static void solved(const Step *p, double *change, double *room_)
{
    const int64_t s = p->stages, n = p->n;
    double *a = room_, *b = a + n, *re = b + n, *im = re + n;
    memset(change, 0, sizeof(double) * (size_t)(s * n));
    for (int64_t pair = 0; pair < s / 2; ++pair) {
        const double *to = p->split + pair * 4 * s, *back = to + 2 * s;
        memset(a, 0, sizeof(double) * (size_t)(2 * n));
        for (int64_t j = 0; j < s; ++j) {
            const double *r = p->out + j * p->outputs;
            for (int64_t k = 0; k < n; ++k)
                a[k] -= to[j] * r[k], b[k] -= to[s + j] * r[k];
        }
        times(p->inverse + pair * 2 * n * n, a, b, re, im, n);
        for (int64_t j = 0; j < s; ++j)
            for (int64_t k = 0; k < n; ++k)
                change[j * n + k] += back[j] * re[k] - back[s + j] * im[k];
    }
}

/* The change of all stages; what was missed in the last iteration is known from now on. */
static void corrected(const Step *p, double *change, double *last, double *room_, int again)
{
    const int64_t N = p->stages * p->n, width = 2 * N + 1;
    solved(p, change, room_);
    const int64_t known = *p->count < p->learns ? *p->count : p->learns;
    for (int64_t m = *p->count - known; m < *p->count; ++m) {
        const double *pair = p->learned + (m % p->learns) * width;
        double along = 0.0;
        for (int64_t i = 0; i < N; ++i)
            along += pair[N + i] * change[i];
        along *= pair[2 * N];
        for (int64_t i = 0; i < N; ++i)
            change[i] += along * pair[i];
    }
    if (again) {
        double along = 0.0, own = 0.0;
        for (int64_t i = 0; i < N; ++i)
            along += last[i] * (last[i] - change[i]), own += last[i] * last[i];
        if (along > 0.1 * own) {
            double *pair = p->learned + (*p->count % p->learns) * width;
            memcpy(pair, change, sizeof(double) * (size_t)N);
            memcpy(pair + N, last, sizeof(double) * (size_t)N);
            pair[2 * N] = 1.0 / along;
            ++*p->count;
            for (int64_t i = 0; i < N; ++i)
                change[i] *= own / along;
        }
    }
    memcpy(last, change, sizeof(double) * (size_t)N);
}

static double largest(const double *x, int64_t n)
{
    double most = 0.0;
    for (int64_t i = 0; i < n; ++i)
        most = fabs(x[i]) > most || x[i] != x[i] ? fabs(x[i]) : most;
    return most;
}

/* Iterations until what is left is below `close` of displacements and speeds, or 0. `ask` fills out. */
static int64_t collocated(const Step *p, int (*ask)(void *), void *with, double *room_)
{
    const int64_t s = p->stages, n = p->n, N = s * n;
    double *change = room_, *last = room_ + N, *rest = room_ + 2 * N;
    const double v = largest(p->start + n, n), q = largest(p->start, n);
    const double reach = 1e-3 + (q > p->h * v ? q : p->h * v), moved = 1e-3 + v;
    double before = INFINITY, shrink = 1.0;
    for (int64_t count = 0; count < p->most; ++count) {
        place_stages(p);
        if (ask(with))
            return -1;
        for (int64_t i = 0; i < s; ++i)
            memcpy(p->x + i * p->inputs + 3 * n + p->width,
                   p->out + (i + 1) * p->outputs - p->follow, sizeof(double) * (size_t)p->follow);
        corrected(p, change, last, rest, count > 0);
        for (int64_t i = 0; i < s; ++i)
            for (int64_t k = p->held; k < n; ++k)
                p->x[i * p->inputs + 2 * n + k] += change[i * n + k];
        const double size = largest(change, N);
        if (!isfinite(size) || (count > 4 && size > 2 * before))
            return 0;
        if (isfinite(before) && before > 0)
            shrink = size < 0.5 * before ? size / before : 0.5;
        const double left = shrink < 1 ? size * shrink / (1 - shrink) : size;
        if (count && p->h * p->h * left <= p->close * reach && p->h * left <= 10 * p->close * moved)
            return count;
        before = size;
    }
    return 0;
}

typedef struct {
    const Tape *tape;
    PyObject *call;
    const Step *step;
    double *w;
} Asked;

static int ask_tape(void *with)
{
    const Asked *a = with;
    evaluate_all(a->tape, a->step->x, a->step->out, a->step->stages, a->w);
    return 0;
}

static int ask_python(void *with)
{
    const Asked *a = with;
    PyObject *none = PyObject_CallNoArgs(a->call);
    Py_XDECREF(none);
    return !none;
}

/* collocate(how, x (s, inputs), out (s, outputs), start (2 n), tableau (s (1 + 2 s)), split (s / 2, 4, s),
   inverse (s / 2, 2, n, n), learned (learns, 2 s n + 1), count (1), held, width, follow, h, close, most):
   iterations, 0 without success. how: a program, or a call that fills `out` from x. */
static PyObject *collocate(PyObject *self, PyObject *args)
{
    PyObject *how;
    Py_buffer x, out, start, tableau, split, inverse, learned, counted;
    long long held, width, follow, most;
    double h, close;
    if (!PyArg_ParseTuple(args, "OO&O&O&O&O&O&O&O&LLLddL", &how, writable, &x, writable, &out, readable, &start,
                          readable, &tableau, readable, &split, readable, &inverse, writable, &learned, writable,
                          &counted, &held, &width, &follow, &h, &close, &most))
        return NULL;
    const int64_t n = start.len / 16;
    int64_t s = 2;
    while (s < 8 && 8 * s * (1 + 2 * s) < tableau.len)
        s += 2;
    const Tape *tape = PyCapsule_IsValid(how, NAME) ? tape_of(how) : NULL;
    const int64_t inputs = x.len / 8 / s, outputs = out.len / 8 / s, N = s * n;
    const int64_t learns = learned.len / (8 * (2 * N + 1));
    PyObject *answer = NULL;
    if (n < 1 || start.len != 16 * n || tableau.len != 8 * s * (1 + 2 * s) || split.len != 16 * s * s
        || inverse.len != 8 * s * n * n || learns < 1 || learned.len != 8 * learns * (2 * N + 1) || counted.len != 8
        || *(int64_t *)counted.buf < 0
        || held < 0 || held > n || width < 0 || width > inputs || follow < 0 || follow > outputs - n
        || x.len != 8 * s * (3 * n + width + follow) || out.len != 8 * s * outputs
        || (tape && (tape->inputs != inputs || tape->outputs != outputs)))
        refuse("the arrays of this step do not fit each other");
    else {
        const double *c = tableau.buf;
        Step step = {s, n, held, width, follow, inputs, outputs, most, learns, h, close, start.buf,
                     c, c + s, c + s + s * s, split.buf, inverse.buf, learned.buf, counted.buf, x.buf, out.buf};
        double *space = malloc(sizeof(double) * (size_t)(2 * N + 4 * n));
        Asked asked = {tape, how, &step, tape ? room(tape, lanes_of(tape, s)) : NULL};
        if (!space || (tape && !asked.w))
            PyErr_NoMemory();
        else {
            int64_t count;
            if (tape) {
                Py_BEGIN_ALLOW_THREADS
                count = collocated(&step, ask_tape, &asked, space);
                Py_END_ALLOW_THREADS
            } else
                count = collocated(&step, ask_python, &asked, space);
            answer = count < 0 ? NULL : PyLong_FromLongLong(count);
        }
        free(space), free(asked.w);
    }
    PyBuffer_Release(&x), PyBuffer_Release(&out), PyBuffer_Release(&start), PyBuffer_Release(&tableau);
    PyBuffer_Release(&split), PyBuffer_Release(&inverse), PyBuffer_Release(&learned), PyBuffer_Release(&counted);
    return answer;
}
