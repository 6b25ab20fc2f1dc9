/* Certified roots: the first natural frequencies of one configuration.

   J(omega) is the number of natural frequencies below omega; f has no poles and sign (-1)^J. Every
   evaluation narrows the bracket of every root it can; a root is isolated by J, then converged on f
   by Chandrupatla's method, and is certified because J is k - 1 just below it and k just above.
   Coincident roots never isolate: they are bisected on J. Source: [Wittrick1971], [Chandrupatla1997]. */

#ifndef SUPPLE_ROOTS_H
#define SUPPLE_ROOTS_H

typedef struct {
    double w;
    Value f;
} Point;

typedef struct {
    const Problem *P;
    int64_t b, skip, count, evaluations;
    int lost;       /* whether an evaluation was not finite */
    Point *lo, *hi; /* per wanted root: the closest points known below and above it */
} Search;

static Point look(Search *s, double w)
{
    Point p = {w, evaluate(s->P, s->b, w)};
    s->evaluations++;
    if (!counts(p.f)) {
        s->lost = 1;
        return p;
    }
    for (int64_t k = 0; k < s->count; ++k) {
        if (p.f.J > s->skip + k) {
            if (w < s->hi[k].w)
                s->hi[k] = p;
        } else if (w > s->lo[k].w)
            s->lo[k] = p;
    }
    return p;
}

static double middle(double lo, double hi)
{
    if (lo <= 0)
        return hi / 8;
    return hi > 2 * lo ? sqrt(lo * hi) : 0.5 * (lo + hi);
}

/* f at x over f at the reference, as a plain number with the sign of the count. */
static double relative(Value x, Value reference, int64_t below)
{
    double size = ldexp(fabs(x.m), (int)(x.e - reference.e));
    return x.J > below ? -size : size;
}

/* Chandrupatla (1997) between a and b, of which one lies below and one above the root. */
static double converge(Search *s, int64_t k, double tolerance)
{
    Point a = s->hi[k], b = s->lo[k], c = a;
    const Value reference = a.f;
    const int64_t below = s->skip + k;
    double fa = relative(a.f, reference, below), fb = relative(b.f, reference, below), fc = fa;
    double t = 0.5;
    for (int step = 0; step < 200 && !s->lost; ++step) {
        double best = fabs(fa) < fabs(fb) ? a.w : b.w;
        double half = tolerance * best / fabs(b.w - a.w);
        if (half > 0.5)
            return a.w + fa / (fa - fb) * (b.w - a.w);
        if (t < half)
            t = half;
        if (t > 1 - half)
            t = 1 - half;
        Point x = look(s, a.w + t * (b.w - a.w));
        double fx = relative(x.f, reference, below);
        if ((fx > 0) == (fa > 0)) {
            c = a, fc = fa;
        } else {
            c = b, fc = fb;
            b = a, fb = fa;
        }
        a = x, fa = fx;
        double xi = (a.w - b.w) / (c.w - b.w), phi = (fa - fb) / (fc - fb);
        if (phi * phi < xi && (1 - phi) * (1 - phi) < 1 - xi)
            t = fa / (fb - fa) * fc / (fb - fc) +
                (c.w - a.w) / (b.w - a.w) * fa / (fc - fa) * fb / (fc - fb);
        else
            t = 0.5;
    }
    return 0.5 * (a.w + b.w);
}

/* Root k (from 0) after the skipped ones; *width is the certified bracket around it, relative. */
static double root(Search *s, int64_t k, double tolerance, double *width)
{
    for (int step = 0; step < 400 && !s->lost; ++step) {
        double lo = s->lo[k].w, hi = s->hi[k].w;
        if (hi - lo <= tolerance * hi)
            break;
        if (lo > 0 && s->hi[k].f.J - s->lo[k].f.J == 1 && hi < 2 * lo)
            break;
        look(s, middle(lo, hi));
    }
    double w = 0.5 * (s->lo[k].w + s->hi[k].w);
    if (s->hi[k].w - s->lo[k].w > tolerance * s->hi[k].w)
        w = converge(s, k, tolerance);
    *width = (s->hi[k].w - s->lo[k].w) / s->hi[k].w;
    return w;
}

/* The wanted roots of configuration b; returns 0 when the frequency range is exhausted. */
static int search(Search *s, double guess, double tolerance, double *omega, double *width)
{
    const Point none = {0, {0, 0, 0}}, far = {INFINITY, {0, 0, 0}};
    for (int64_t k = 0; k < s->count; ++k)
        s->lo[k] = none, s->hi[k] = far;
    double w = guess;
    for (int step = 0; step < 400 && !s->lost && isinf(s->hi[s->count - 1].w); ++step, w *= 2)
        look(s, w);
    if (s->lost || isinf(s->hi[s->count - 1].w))
        return 0;
    for (int64_t k = 0; k < s->count && !s->lost; ++k)
        omega[k] = root(s, k, tolerance, width + k);
    return !s->lost;
}

#endif
