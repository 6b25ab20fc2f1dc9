/* Certified roots: the hunt for natural frequencies of one configuration, where the usual way
   (_together.h) does not lead to them.

   J(omega) is the number of natural frequencies below omega; f has no poles and sign (-1)^J. First the
   configuration is looked at on a grid of frequencies, which the robot's beams alone decide: all
   configurations share it. A root is isolated by J (if need be by bisection), converged by secants, and
   certified: J, guarded against its own rounding, is at most k - 1 just below it and at least k just
   above. Where rounding is too large for the wanted bracket, the bracket is widened until it holds.
   Source: [Wittrick1971]. */

#define GRID_PLANAR 0.22 /* grid points lie so far apart, in numbers of waves along all beams: */
#define GRID_SPATIAL 0.13 /* closer where a look at one's own frequency costs more beside the grid's */
#define WIDEN 1.4       /* a bracket that rounding blurs is widened so */
#define WIDEST 1e-2     /* up to this part of the root, beyond which nothing is certified */

typedef struct {
    double w;
    Value f;
} Point;

enum { ISOLATE, CONVERGE, BELOW, ABOVE, DONE };

typedef struct {
    int64_t skip, count, evaluations;
    double tolerance, along, across; /* u^2 = along^2 omega + across^2 omega^2, waves along all beams */
    double grid;                     /* grid points lie so far apart in u */
    Point *lo, *hi;                  /* closest points known around each root */
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

/* omega where u waves stand along all beams. As a function of u, f is even and smooth through u = 0. */
static double frequency_of(const Hunt *h, double u)
{
    const double along = h->along * h->along, across = h->across * h->across;
    return 2 * u * u / (along + sqrt(along * along + 4 * across * (u * u)));
}

/* Points of the grid that are evenly apart. */
static int64_t even_points(const Hunt *h)
{
    return 8 * h->count + 64;
}

/* Grid point j: u = grid (j + 1/2), and beyond the even points each a quarter higher. */
static double grid_point(const Hunt *h, int64_t j)
{
    const int64_t far = j >= even_points(h) ? j - even_points(h) + 1 : 0;
    const double omega = frequency_of(h, h->grid * ((double)(j - far) + 0.5));
    return far ? omega * pow(1.25, (double)far) : omega;
}

/* How many half waves stand along all beams at omega: sum L (w^2 m / EI)^(1/4) / pi for every plane
   that bends, and L w sqrt(m / EA) / pi for stretching and twisting, and as much for shear and for the
   turning of sections, which overtake bending high up. */
static void waves_along(const Problem *P, const double *L, double guess, Hunt *h)
{
    h->along = h->across = 0;
    h->grid = P->R == 3 ? GRID_PLANAR : GRID_SPATIAL;
    for (int64_t i = 0; i < P->n; ++i) {
        const Beam *b = P->beams + i;
        for (int plane = 0; plane < (P->R == 3 ? 1 : 2); ++plane)
            if (b->active & (plane ? ACTIVE_XZ : ACTIVE_XY) && b->m > 0) {
                h->along += L[i] * sqrt(sqrt(b->m / b->EI[plane])) / PI;
                h->across += L[i] * (sqrt(b->m * b->shear[plane]) + sqrt(b->rI[plane] / b->EI[plane])) / PI;
            }
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
    h->evaluations = h->k = 0;
    h->mode = DONE, h->lost = h->steps = h->again = 0, h->slope = 0;
    for (int64_t k = 0; k < h->count; ++k) {
        h->lo[k] = (Point){0, {1, 0, (double)skip}};
        h->hi[k] = (Point){INFINITY, {1, 0, INFINITY}};
        omega[k] = width[k] = NAN;
    }
}

/* Turn to the next root that is not known. */
static void next_root(Hunt *h)
{
    while (h->k < h->count && !isnan(h->omega[h->k]))
        h->k++;
    h->mode = h->k < h->count ? ISOLATE : DONE;
    h->steps = 0, h->slope = 0;
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

/* Begin to converge on an isolated root. */
static void begin_converging(Hunt *h)
{
    const Point lo = h->lo[h->k], hi = h->hi[h->k];
    h->scale = hi.f.e, h->steps = 0, h->span = hi.w - lo.w;
    const double f_lo = plain(h, lo.f), f_hi = plain(h, hi.f);
    h->slope = (f_hi - f_lo) / h->span;
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
    h->k++;
    next_root(h);
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
