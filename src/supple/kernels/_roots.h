/* Certified roots: the hunt for the first natural frequencies of one configuration.

   J(omega) is the number of natural frequencies below omega; f has no poles and sign (-1)^J. First the
   configuration is looked at on a grid of frequencies, which the robot's beams alone decide: all
   configurations share it. A root is isolated by J (if need be by bisection), estimated by the
   polynomial through f on the grid, converged by secants, and certified: J, guarded against its own
   rounding, is at most k - 1 just below it and at least k just above. Where rounding is too large for
   the wanted bracket, the bracket is widened until it holds. Source: [Wittrick1971]. */

#define GRID 0.25       /* grid points lie so far apart, in numbers of waves along all beams */
#define STENCIL 8       /* points of the grid that one estimate uses */
#define WIDEN 2.0       /* a bracket that rounding blurs is widened so */
#define WIDEST 1e-2     /* up to this part of the root, beyond which nothing is certified */

typedef struct {
    double w;
    Value f;
} Point;

enum { CLIMB, ISOLATE, CONVERGE, BELOW, ABOVE, DONE };

typedef struct {
    int64_t skip, count, evaluations, points; /* points of the grid that were needed */
    double tolerance, along, across;          /* N(omega) = along sqrt(omega) + across omega */
    Point *lo, *hi, *grid;                    /* closest points known around each root; the grid */
    int64_t room;
    double *omega, *width;
    int64_t k; /* the root that is hunted */
    int mode, steps, again, lost;
    double x, before, f_before, slope, span, below, above;
    Point floor; /* certified below the root */
    int64_t scale;
} Hunt;

/* m 2^e; what does not fit is far from zero or from anything. */
static double scaled(double m, int64_t e)
{
    e = e > 900 ? 900 : e < -900 ? -900 : e;
    uint64_t bits = (uint64_t)(e + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return fabs(m) * power;
}

static int counts(Value f)
{
    return isfinite(f.m) && f.m != 0 && isfinite(f.J);
}

/* Grid point j: N(omega) = GRID (j + 1), and beyond the even points each a quarter higher. */
static double grid_point(const Hunt *h, int64_t j)
{
    int64_t even = 4 * h->count + 64, far = j > even ? j - even : 0;
    double t = GRID * (double)(j - far + 1);
    double s = 2 * t / (h->along + sqrt(h->along * h->along + 4 * h->across * t));
    return far ? s * s * pow(1.25, (double)far) : s * s;
}

/* How many half waves stand along all beams at omega: sum L (w^2 m / EI)^(1/4) / pi for every plane
   that bends, and L w sqrt(m / EA) / pi for stretching and twisting. */
static void waves_along(const Problem *P, const double *L, double guess, Hunt *h)
{
    h->along = h->across = 0;
    for (int64_t i = 0; i < P->n; ++i) {
        const Beam *b = P->beams + i;
        for (int plane = 0; plane < (P->R == 3 ? 1 : 2); ++plane)
            if (b->active & (plane ? ACTIVE_XZ : ACTIVE_XY) && b->m > 0)
                h->along += L[i] * sqrt(sqrt(b->m / b->EI[plane])) / PI;
        if (b->active & ACTIVE_U)
            h->across += L[i] * sqrt(b->m / b->EA) / PI;
        if (P->R == 6 && b->active & ACTIVE_PHI)
            h->across += L[i] * sqrt(b->rIp / b->GJ) / PI;
    }
    if (!(h->along > 0))
        h->along = 1 / sqrt(guess);
}

static void begin_hunt(Hunt *h, int64_t skip, double *omega, double *width)
{
    h->skip = skip, h->omega = omega, h->width = width;
    h->evaluations = h->points = h->k = 0;
    h->mode = CLIMB, h->lost = h->steps = h->again = 0, h->slope = 0;
    for (int64_t k = 0; k < h->count; ++k) {
        h->lo[k] = (Point){0, {1, 0, (double)skip}};
        h->hi[k] = (Point){INFINITY, {1, 0, INFINITY}};
        omega[k] = width[k] = NAN;
    }
}

/* Note a point of the grid; true when the hunt needs no more of them. */
static int climb(Hunt *h, Point p)
{
    h->evaluations++;
    if (!counts(p.f)) {
        h->lost = 1, h->mode = DONE;
        return 1;
    }
    const Point before = h->points ? h->grid[h->points - 1] : h->lo[0];
    h->grid[h->points++] = p;
    for (; h->k < h->count && p.f.J > (double)(h->skip + h->k); ++h->k)
        h->lo[h->k] = before, h->hi[h->k] = p;
    if (h->k < h->count)
        return 0;
    h->k = 0, h->mode = ISOLATE;
    return 1;
}

/* Narrow the brackets of this root and the following ones by a point between them. */
static void narrow(Hunt *h, Point p)
{
    for (int64_t k = h->k; k < h->count && h->lo[k].w < p.w; ++k) {
        if (p.f.J > (double)(h->skip + k)) {
            if (p.w < h->hi[k].w)
                h->hi[k] = p;
        } else
            h->lo[k] = p;
    }
}

static double middle(double lo, double hi)
{
    if (lo <= 0)
        return hi / 8;
    return hi > 2 * lo ? sqrt(lo * hi) : 0.5 * (lo + hi);
}

/* f as a plain number on the root's own scale, with the sign of the count. */
static double plain(const Hunt *h, Value f)
{
    const double size = scaled(f.m, f.e - h->scale);
    return f.J > (double)(h->skip + h->k) ? -size : size;
}

/* An estimate of the root in (lo, hi), the points j - 1 and j of the grid, and of the slope of f there:
   Newton's polynomial in sqrt(N) .. j through up to STENCIL points around them. Returns 0 without. */
static double interpolated(const Hunt *h, int64_t j, double *slope)
{
    int64_t first = j - STENCIL / 2, last = first + STENCIL - 1;
    if (last > h->points - 1)
        last = h->points - 1;
    if (last > 4 * h->count + 64)
        last = 4 * h->count + 64;
    first = last - STENCIL + 1 < 0 ? 0 : last - STENCIL + 1;
    const int n = (int)(last - first + 1), at = (int)(j - 1 - first);
    if (n < 4 || at < 0 || at > n - 2)
        return 0;
    double d[STENCIL];
    for (int i = 0; i < n; ++i) {
        const Point *p = h->grid + first + i;
        const double size = scaled(p->f.m, p->f.e - h->scale);
        const int64_t over = (int64_t)fmin(fmax(p->f.J, 0), 9e15) - h->skip - h->k;
        d[i] = over & 1 ? -size : size;
    }
    const double low = d[at], high = d[at + 1];
    static const double parts[STENCIL] = {0, 1, 1 / 2.0, 1 / 3.0, 1 / 4.0, 1 / 5.0, 1 / 6.0, 1 / 7.0};
    for (int i = 1; i < n; ++i)
        for (int k = n - 1; k >= i; --k)
            d[k] = (d[k] - d[k - 1]) * parts[i];
    double a = at, b = at + 1, t = at + low / (low - high), y = 0, dy = 0;
    for (int step = 0; step < 8; ++step) {
        y = d[n - 1], dy = 0;
        for (int i = n - 2; i >= 0; --i) {
            dy = dy * (t - i) + y;
            y = y * (t - i) + d[i];
        }
        if ((y > 0) == (low > 0))
            a = t;
        else
            b = t;
        double next = t - y / dy;
        if (!(next > a && next < b))
            next = 0.5 * (a + b);
        double moved = fabs(next - t);
        t = next;
        if (moved < 1e-3) /* the next step would be quadratically smaller */
            break;
    }
    const double N = GRID * (t + (double)first + 1);
    const double root = sqrt(h->along * h->along + 4 * h->across * N), s = 2 * N / (h->along + root);
    *slope = dy / GRID * (h->along / (2 * s) + h->across); /* dN / dw */
    return s * s;
}

/* Begin to converge on an isolated root. */
static void begin_converging(Hunt *h)
{
    const Point lo = h->lo[h->k], hi = h->hi[h->k];
    h->scale = hi.f.e, h->steps = 0, h->span = hi.w - lo.w;
    const double f_lo = plain(h, lo.f), f_hi = plain(h, hi.f);
    h->slope = (f_hi - f_lo) / h->span;
    h->x = 0;
    int64_t low = 0, high = h->points; /* where hi stands on the grid */
    while (low < high) {
        int64_t j = (low + high) / 2;
        if (h->grid[j].w < hi.w)
            low = j + 1;
        else
            high = j;
    }
    if (low > 0 && low < h->points && h->grid[low].w == hi.w && h->grid[low - 1].w == lo.w)
        h->x = interpolated(h, low, &h->slope);
    if (!(h->x > lo.w && h->x < hi.w))
        h->x = lo.w + h->span * fmin(0.98, fmax(0.02, f_lo / (f_lo - f_hi)));
    h->mode = CONVERGE;
}

static void begin_certificate(Hunt *h, double x)
{
    h->x = x, h->mode = BELOW;
    h->below = h->above = h->tolerance;
}

/* The next frequency to look at, and the side of the guard there. */
static double next_look(Hunt *h, double *sigma)
{
    *sigma = 0;
    if (h->mode == ISOLATE) {
        const Point lo = h->lo[h->k], hi = h->hi[h->k];
        h->again = 0;
        if (hi.w - lo.w <= h->tolerance * hi.w)
            begin_certificate(h, 0.5 * (lo.w + hi.w));
        else if (lo.w > 0 && hi.f.J - lo.f.J == 1 && hi.w < 2 * lo.w)
            begin_converging(h);
        else
            return middle(lo.w, hi.w);
    }
    if (h->mode == BELOW) {
        *sigma = -1;
        return h->x * (1 - h->below);
    }
    if (h->mode == ABOVE) {
        *sigma = 1;
        return h->x * (1 + h->above);
    }
    return h->x;
}

/* After a look at x: where the root is now thought to be, and whether that is good enough. Where a
   certificate has failed before, every other step halves the bracket. */
static void advance(Hunt *h, double x, double f)
{
    const double lo = h->lo[h->k].w, hi = h->hi[h->k].w;
    double slope = h->steps ? (f - h->f_before) / (x - h->before) : h->slope, next = x - f / slope;
    if (!(next > lo && next < hi) || (h->steps > 5 && h->steps % 3 == 0) || (h->again && h->steps % 2))
        next = middle(lo, hi);
    const double step = fabs(next - x), last = h->steps ? fabs(x - h->before) : h->span;
    const double fine = 0.02 * h->tolerance * x;
    h->before = x, h->f_before = f, h->slope = slope, h->steps++;
    if ((h->steps > 1 && !h->again && step * last <= fine * h->span) ||
        hi - lo <= h->tolerance * x || h->steps > 200)
        begin_certificate(h, next);
    else
        h->x = next;
}

/* Root k is certified between two points, or cannot be: note it and turn to the next one. Where secants
   have not settled it, the two points do. The guard
   moves what is seen of f at both points away from the root by as much, so that the root lies by half
   of the difference of f over its slope beside their middle. */
static void note(Hunt *h, Point lo, Point hi, int proven)
{
    double x = h->x;
    if (proven && h->again && h->slope != 0 && hi.f.J - lo.f.J == 1) {
        const double off = (fabs(plain(h, lo.f)) - fabs(plain(h, hi.f))) / fabs(2 * h->slope);
        const double found = 0.5 * (lo.w + hi.w) + off;
        x = found > lo.w && found < hi.w ? found : x;
    }
    h->omega[h->k] = x;
    h->width[h->k] = proven ? (hi.w - lo.w) / hi.w : INFINITY;
    h->mode = ++h->k < h->count ? ISOLATE : DONE;
    h->steps = 0, h->slope = 0;
}

static void look(Hunt *h, Point p)
{
    const int64_t k = h->k;
    const int over = p.f.J > (double)(h->skip + k);
    h->evaluations++;
    if (!counts(p.f)) {
        h->lost = 1, h->mode = DONE;
    } else if (h->mode == ISOLATE) {
        narrow(h, p);
        if (++h->steps > 2000)
            h->lost = 1, h->mode = DONE;
    } else if (h->mode == CONVERGE) {
        narrow(h, p);
        advance(h, p.w, plain(h, p.f));
    } else if (over == (h->mode == ABOVE)) { /* this side holds */
        if (h->mode == ABOVE)
            note(h, h->floor, p, 1);
        else
            h->floor = p, h->mode = ABOVE;
    } else if (!h->again && h->hi[k].w - h->lo[k].w > h->tolerance * p.w) {
        h->again = 1, h->steps = 1, h->mode = CONVERGE; /* not there yet: look at the estimate */
    } else {
        double *side = h->mode == ABOVE ? &h->above : &h->below;
        *side *= WIDEN;
        if (*side > WIDEST)
            note(h, h->floor, p, 0);
    }
}
