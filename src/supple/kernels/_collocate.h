/* One implicit step by collocation: stage accelerations that drive a residual to zero.

   A row of x is [q, qd, qdd, u, w] of a stage, one of `out` is [r, .., w]: r over (q, qd, qdd) and
   inputs u, and w nearer to where the followers of loops are. Newton's method with a matrix that is
   kept and bettered on the way (Broyden); the equations are in integration/steppers/collocated.py. */

typedef struct {
    int64_t stages, n, held, width, follow, inputs, outputs, most;
    double h, close;
    const double *start;         /* q, qd */
    const double *c, *a, *twice; /* nodes (s), coefficients (s, s) and their square */
    double *x, *out, *inverse;
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

/* change = -inverse r; what the matrix missed in the last iteration it knows from now on. */
static void corrected(const Step *p, double *change, double *last, double *row, int again)
{
    const int64_t s = p->stages, n = p->n, N = s * n;
    for (int64_t i = 0; i < N; ++i) {
        double sum[4] = {0.0}; /* side by side */
        for (int64_t j = 0; j < s; ++j) {
            const double *r = p->out + j * p->outputs, *part = p->inverse + i * N + j * n;
            int64_t k = 0;
            for (; k + 4 <= n; k += 4)
                for (int l = 0; l < 4; ++l)
                    sum[l] += part[k + l] * r[k + l];
            for (; k < n; ++k)
                sum[k & 3] += part[k] * r[k];
        }
        change[i] = -(sum[0] + sum[1] + sum[2] + sum[3]);
    }
    if (again) {
        double along = 0.0, own = 0.0;
        for (int64_t i = 0; i < N; ++i)
            along += last[i] * (last[i] - change[i]), own += last[i] * last[i];
        if (along > 0.1 * own) {
            memset(row, 0, sizeof(double) * (size_t)N);
            for (int64_t i = 0; i < N; ++i)
                for (int64_t j = 0; j < N; ++j)
                    row[j] += last[i] * p->inverse[i * N + j];
            for (int64_t i = 0; i < N; ++i) {
                const double more = change[i] / along;
                for (int64_t j = 0; j < N; ++j)
                    p->inverse[i * N + j] += more * row[j];
            }
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
    double *change = room_, *last = room_ + N, *row = room_ + 2 * N;
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
        corrected(p, change, last, row, count > 0);
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

/* collocate(how, x (s, inputs), out (s, outputs), start (2 n), tableau (s (1 + 2 s)),
   inverse (s n, s n), held, width, follow, h, close, most): iterations, 0 without success.
   how: a program, or a call that fills `out` from x. */
static PyObject *collocate(PyObject *self, PyObject *args)
{
    PyObject *how;
    Py_buffer x, out, start, tableau, inverse;
    long long held, width, follow, most;
    double h, close;
    if (!PyArg_ParseTuple(args, "OO&O&O&O&O&LLLddL", &how, writable, &x, writable, &out, readable, &start,
                          readable, &tableau, writable, &inverse, &held, &width, &follow, &h, &close, &most))
        return NULL;
    const int64_t n = start.len / 16;
    int64_t s = 1;
    while (s < 8 && 8 * s * (1 + 2 * s) < tableau.len)
        ++s;
    const Tape *tape = PyCapsule_IsValid(how, NAME) ? tape_of(how) : NULL;
    const int64_t inputs = x.len / 8 / s, outputs = out.len / 8 / s, N = s * n;
    PyObject *answer = NULL;
    if (n < 1 || start.len != 16 * n || tableau.len != 8 * s * (1 + 2 * s) || inverse.len != 8 * N * N
        || held < 0 || held > n || width < 0 || width > inputs || follow < 0 || follow > outputs - n
        || x.len != 8 * s * (3 * n + width + follow) || out.len != 8 * s * outputs
        || (tape && (tape->inputs != inputs || tape->outputs != outputs)))
        refuse("the arrays of this step do not fit each other");
    else {
        const double *c = tableau.buf;
        Step step = {s, n, held, width, follow, inputs, outputs, most, h, close, start.buf,
                     c, c + s, c + s + s * s, x.buf, out.buf, inverse.buf};
        double *space = malloc(sizeof(double) * (size_t)(3 * N + 1));
        Asked asked = {tape, how, &step, tape ? room(tape, s > FEW ? LANES : s > 1 ? FEW : 1) : NULL};
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
    PyBuffer_Release(&x), PyBuffer_Release(&out), PyBuffer_Release(&start);
    PyBuffer_Release(&tableau), PyBuffer_Release(&inverse);
    return answer;
}
