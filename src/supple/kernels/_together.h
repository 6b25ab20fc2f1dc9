/* The usual way to the roots of LANES configurations side by side; included for every width. Nothing
   that a lane does depends on the others: a lane that is ready waits.

   All configurations are looked at on one grid, evenly apart in u, the number of waves along all beams.
   As a function of u the determinant f is even and smooth: around a root it is the polynomial through
   STENCIL points of the grid, at negative u those at positive. Its root is the estimate; a look there
   makes the polynomial exact at one point more, and its root is the next; two guarded counts certify it.
   What is not certified so, such as roots that lie closer than the grid can tell, is left to the hunt
   (_roots.h). A configuration that is alone has its own frequencies side by side. */

typedef struct {
    LN(Block) K;
    int single; /* whether all lanes are one configuration */
    Block1 alone;
    int64_t filled, b[LANES];
    Hunt hunts[LANES];
    VD skip, along, across, usual; /* squares of the hunts' along and across; the first grid point */
    VD *m, *J, *f; /* on the grid: determinant m 2^e, count, and f with its sign, on one scale, flat */
    VI *e, base;   /* that scale: the first exponent */
    int64_t points[LANES]; /* of the grid that a lane has */
} LN(Party);

/* One look at a lane that needs care, alone; a frequency at which nothing finite is left, such as a
   root of a part that is decoupled met exactly, is seen from just above. */
static Point LN(careful)(const Problem *P, Block1 *alone, double omega, double sigma)
{
    Values1 f;
    double step = 4 * DBL_EPSILON;
    for (int attempt = 0;; ++attempt, step *= 8) {
        alone->choosy = 1;
        alone->spare = alone->faint > 0 && P->c + SPARE <= MAX_CLOSURE ? SPARE : 0;
        evaluate1(P, alone, omega, NULL, sigma, &f);
        Point p = {omega, {f.m, f.e, f.J}};
        if (counts(p.f) || attempt == 4)
            return p;
        omega *= 1 + step;
    }
}

/* Look at the lanes again that needed care. */
static void LN(mend)(const Problem *P, LN(Party) *party, VI wanted, VD omega, VD sigma, LN(Values) *f)
{
    f->hard |= ~LT(ABS(f->J), 9e15 + NONE);
    if (!ANY(f->hard & wanted))
        return;
    for (int l = 0; l < LANES; ++l) {
        if (!LANE(f->hard, l) || !LANE(wanted, l))
            continue;
        if (party->filled != party->b[l]) {
            fill_block1(P, &party->alone, party->b + l);
            party->filled = party->b[l];
        }
        party->alone.near = party->K.near, party->alone.faint = party->K.faint;
        party->alone.vanishing = party->K.vanishing;
        Point p = LN(careful)(P, &party->alone, LANE(omega, l), LANE(sigma, l));
        LANE(f->m, l) = p.f.m, LANE(f->e, l) = p.f.e, LANE(f->J, l) = p.f.J;
        LANE(f->hard, l) = counts(p.f) ? 0 : -1;
    }
}

/* Beam stiffnesses at grid point j for all configurations, made when first asked for. */
static const Stiffness1 *LN(shared_at)(const Problem *P, Table *table, int64_t j, double omega)
{
    if (!table->rows || j >= table->size)
        return NULL;
    if (!table->rows[j]) {
        size_t bytes = sizeof(Stiffness1) * (size_t)P->n;
        Stiffness1 *row = aligned_room(bytes);
        for (int64_t i = 0; row && i < P->n; ++i)
            stiffness1(omega * omega, P->L[i], P->beams + i, (int)P->R, row + i);
        table->rows[j] = row;
    }
    return table->rows[j];
}

/* m 2^e with the sign of a count; nothing that is far from zero or from anything. */
ALWAYS_INLINE VD LN(signed_value)(VD m, VI e, VD J)
{
    VI low = LT(-900.0 + NONE, LN(whole)(e)), high = LT(LN(whole)(e), 900.0 + NONE);
    VI power = SHIFTED(((e & low & high) + 1023), 52);
    VI odd = SHIFTED(BITS(J + 6755399441055744.0), 63);
    VD f = NUMBER(BITS(ABS(m) * NUMBER(power)) | odd);
    return SEL(low & high, f, NAN + NONE);
}

/* How f grows from u = 0 on, about; it is divided out for the polynomials. */
ALWAYS_INLINE VD LN(steep)(VD u2)
{
    return (1.0 + u2) * (1.0 + u2);
}

/* Note grid point j: until[] is where a lane has enough, lost where it cannot be counted. */
static void LN(note_point)(LN(Party) *party, int64_t j, VI open, LN(Values) f, VD last, VD *until, VI *lost)
{
    party->base = j ? party->base : f.e;
    party->m[j] = f.m, party->e[j] = f.e, party->J[j] = f.J;
    const double u = party->hunts->grid * ((double)j + 0.5);
    party->f[j] = LN(signed_value)(f.m, f.e - party->base, f.J - party->skip) / steep1(u * u);
    const VI above = LT(last + party->skip, f.J), first = above & EQ(*until, INFINITY + NONE);
    *until = SEL(first, (double)(j + 1 + STENCIL / 2) + NONE, *until);
    *lost |= open & f.hard;
    for (int l = 0; l < LANES; ++l)
        party->points[l] -= LANE(open, l) & ~LANE(f.hard, l);
}

/* The frequency of grid point j, kept for all configurations where these share it. */
static double LN(shared_point)(const Hunt *h, Table *table, int64_t j)
{
    if (!table->omega || j >= table->size)
        return grid_point(h, j);
    if (table->omega[j] == 0)
        table->omega[j] = grid_point(h, j);
    return table->omega[j];
}

/* Look at the grid until every lane has all its roots below it and half a stencil more. */
static void LN(climb_together)(const Problem *P, LN(Party) *party, VI lanes, int64_t room, Table *table)
{
    const Hunt *h = party->hunts;
    const int64_t stride = party->single ? LANES : 1;
    VD last = NONE, until = INFINITY + NONE;
    VI lost = BITS(NONE);
    party->K.near = NEARER, party->K.vanishing = VANISHED;
    for (int l = 0; l < LANES; ++l)
        LANE(last, l) = (double)(h[l].count - 1), party->points[l] = 0;
    for (int64_t j = 0; j < room; j += stride) {
        VI open = lanes & ~lost & LT((double)j + NONE, until);
        if (!ANY(open))
            return;
        VD omega = LN(shared_point)(h, table, j) + NONE;
        for (int l = 1; l < LANES && (party->single || !P->same_lengths); ++l)
            LANE(omega, l) = grid_point(h + l, party->single ? j + l : j);
        if (j == 0 && party->single)
            party->usual = LANE(omega, 0) + NONE;
        else if (j == 0)
            party->usual = omega;
        LN(Values) f;
        LN(evaluate)(P, &party->K, omega, LN(shared_at)(P, table, j, LANE(omega, 0)), NONE, &f);
        LN(mend)(P, party, open, omega, NONE, &f);
        if (!party->single)
            LN(note_point)(party, j, open, f, last, &until, &lost);
        for (int l = 0; l < LANES && party->single && j + l < room && ANY(open); ++l) {
            const LN(Values) one = {LANE(f.m, l) + NONE, LANE(f.J, l) + NONE, LANE(f.e, l) + BITS(NONE),
                                    LANE(f.hard, l) + BITS(NONE)};
            LN(note_point)(party, j + l, open, one, last, &until, &lost);
            open = lanes & ~lost & LT((double)(j + l + 1) + NONE, until);
        }
    }
}

/* The polynomial through the stencil of each lane around its root k, and how many roots stand before
   it and in all between the two grid points in its middle. Returns where there is one. */
static VI LN(around)(LN(Party) *party, int64_t *at, const int64_t *k, VI lanes, VD *c, VD *before, VD *all)
{
    double y[STENCIL][LANES];
    VI fits = BITS(NONE);
    memset(y, 0, sizeof y);
    for (int l = 0; l < LANES; ++l) {
        const Hunt *h = party->hunts + l;
        const int64_t points = party->points[l], even = even_points(h), number = h->skip + k[l];
        int64_t j = at[l];
        while (j < points && !(LANE(party->J[j], l) > (double)number))
            ++j;
        at[l] = j;
        const int64_t most = points < even ? points : even;
        if (!LANE(lanes, l) || j < 1 || j + STENCIL / 2 > most || STENCIL / 2 - j > most)
            continue;
        for (int64_t i = 0; i < STENCIL; ++i) {
            const int64_t from = j - STENCIL / 2 + i;
            y[i][l] = LANE(party->f[from < 0 ? -1 - from : from], l);
        }
        LANE(*before, l) = (double)number - LANE(party->J[j - 1], l);
        LANE(*all, l) = LANE(party->J[j], l) - LANE(party->J[j - 1], l);
        LANE(fits, l) = -1;
    }
    VD sum[STENCIL / 2], less[STENCIL / 2];
    for (int i = 0; i < STENCIL / 2; ++i) {
        VD right, left;
        memcpy(&right, y[STENCIL / 2 + i], sizeof right);
        memcpy(&left, y[STENCIL / 2 - 1 - i], sizeof left);
        sum[i] = right + left, less[i] = right - left;
    }
    for (int i = 0; i < TERMS; ++i) {
        const VD *from = i % 2 ? less : sum;
        c[i] = FIT[i][0] * from[0];
        for (int j = 1; j < STENCIL / 2; ++j)
            c[i] += FIT[i][j] * from[j];
    }
    return fits;
}

ALWAYS_INLINE VD LN(polynomial)(const VD *c, VD x)
{
    VD y = c[TERMS - 1];
    for (int i = TERMS - 2; i >= 0; --i)
        y = y * x + c[i];
    return y;
}

/* The same, c, plus `more` times the polynomial that vanishes at the stencil; and its slope. */
ALWAYS_INLINE VD LN(corrected)(const VD *c, VD more, VD x, VD *slope)
{
    VD y = c[TERMS - 1], d = NONE, x2 = x * x, w = 1.0 + NONE, dw = NONE;
    for (int i = TERMS - 2; i >= 0; --i) {
        d = d * x + y;
        y = y * x + c[i];
    }
    for (int i = STENCIL / 2 - 1; i >= 0; --i) {
        dw = dw * x2 + w;
        w = w * x2 + NODAL[i];
    }
    *slope = d + more * (2.0 * x * dw);
    return y + more * w;
}

/* The polynomial with its first two derivatives. */
ALWAYS_INLINE VD LN(derivatives)(const VD *c, VD x, VD *slope, VD *bend)
{
    VD y = c[TERMS - 1], d = NONE, dd = NONE;
    for (int i = TERMS - 2; i >= 0; --i) {
        dd = dd * x + d;
        d = d * x + y;
        y = y * x + c[i];
    }
    *slope = d, *bend = 2.0 * dd;
    return y;
}

/* Where a root is thought to be: its place and, of two that lie close together, on which side it is. */
typedef struct {
    VD at, side; /* -1 the lower of a pair, 1 the upper one, 0 a root on its own */
} LN(Guess);

/* Where the polynomial has its root number `before` of `all` between -1/2 and 1/2. Changes of sign show
   roots; a place where it turns back beside zero shows two, which it may miss by its rounding. */
static VI LN(root_of)(const VD *c, VD before, VD all, VI fits, LN(Guess) *guess)
{
    const VD one = 1.0 + NONE, half = 0.5 + NONE;
    VD a = -half, b = half, fa = LN(polynomial)(c, a), fb = LN(polynomial)(c, b), side = NONE, turn = NONE;
    VI several = fits & ~EQ(all, one);
    if (ANY(several)) { /* look between, for as many roots as there are */
        const double step = 1.0 / BETWEEN;
        VD seen = NONE, l = a, r = b, fl = fa, fr = fb;
        VD y = LN(polynomial)(c, a - step), value = fa, next = fa;
        for (int i = 1; i <= BETWEEN + 1; ++i) { /* y, value, next at x - step, x and x + step */
            const VD x = step * (i - 1) - half;
            VI change = BITS(NONE);
            next = LN(polynomial)(c, x + step);
            const VD bend = y - 2.0 * value + next, rise = 0.5 * (next - y), vertex = x - step * rise / bend;
            const VD there = value - 0.5 * rise * rise / bend;
            VI turns = ~(LT(value, NONE) ^ LT(y, NONE)) & ~(LT(value, NONE) ^ LT(next, NONE));
            turns &= ~LT(ABS(y), ABS(value)) & LT(ABS(value), ABS(next)) & LT(ABS(vertex), half + step);
            turns &= LT(SEL(LT(value, NONE), -there, there), 0.1 * ABS(bend));
            const VI lower = turns & EQ(seen, before), upper = turns & EQ(seen + 1.0, before);
            side = SEL(lower, -one, SEL(upper, one, side)), turn = SEL(lower | upper, vertex, turn);
            seen += 2.0 * ONE_IF(turns);
            if (i <= BETWEEN)
                change = LT(value, NONE) ^ LT(next, NONE);
            const VI mine = change & EQ(seen, before);
            l = SEL(mine, x, l), r = SEL(mine, x + step, r), fl = SEL(mine, value, fl), fr = SEL(mine, next, fr);
            seen += ONE_IF(change);
            y = value, value = next;
        }
        fits &= ~several | EQ(seen, all);
        a = SEL(several, l, a), b = SEL(several, r, b), fa = SEL(several, fl, fa), fb = SEL(several, fr, fb);
    }
    const VI paired = several & ~EQ(side, NONE), falls = LT(NONE, fa);
    if (ANY(paired)) { /* the place where it turns, and half of what lies between the two */
        VD d, dd, f = NONE;
        for (int step = 0; step < 3; ++step) {
            f = LN(derivatives)(c, turn, &d, &dd);
            turn = SEL(paired & LT(ABS(d), 0.1 * ABS(dd)), turn - d / dd, turn);
        }
        const VD apart = -2.0 * f / dd;
        turn += SEL(LT(NONE, apart), side * LN(roots)(ABS(apart)), NONE);
    }
    fits &= paired | (falls ^ LT(NONE, fb));
    VD x = a + (b - a) * (fa / (fa - fb));
    VI moving = fits & ~paired;
    for (int step = 0; step < 12 && ANY(moving); ++step) {
        VD y = c[TERMS - 1];
        VD d = NONE;
        for (int i = TERMS - 2; i >= 0; --i) {
            d = d * x + y;
            y = y * x + c[i];
        }
        const VI before_root = ~(LT(NONE, y) ^ falls);
        a = SEL(moving & before_root, x, a), b = SEL(moving & ~before_root, x, b);
        VD next = x - y / d;
        next = SEL(LT(a, next) & LT(next, b), next, 0.5 * (a + b));
        const VI small = LT(ABS(next - x), 1e-5 + NONE); /* the next would be quadratically smaller */
        x = SEL(moving, next, x);
        moving &= ~small;
    }
    guess->at = SEL(paired, turn, x);
    guess->side = side;
    return fits & ~moving;
}

/* omega where u waves stand along all beams, and its slope. */
ALWAYS_INLINE VD LN(frequencies)(const LN(Party) *party, VD u, VD *slope)
{
    const VD along = party->along, across = party->across;
    const VD x = 2.0 * (u * u) / (along + LN(roots)(along * along + 4.0 * across * (u * u)));
    *slope = 2.0 * u / (along + 2.0 * across * x);
    return x;
}

/* Root k of every lane: estimate, correct, certify. What cannot be is left unknown. */
static void LN(root_together)(const Problem *P, LN(Party) *party, const int64_t *k, int64_t *at, VI lanes)
{
    Hunt *h = party->hunts;
    const double tolerance = h->tolerance, step = h->grid; /* the same in all lanes */
    VD c[TERMS], before = NONE, all = 1.0 + NONE, grid = NONE, more = NONE, slope = NONE, moved = NONE;
    VD tilt = NONE, seen_at = NONE;
    LN(Guess) guess;
    VI fits = LN(around)(party, at, k, lanes, c, &before, &all);
    if (!ANY(fits))
        return;
    fits = LN(root_of)(c, before, all, fits, &guess);
    const VI paired = ~EQ(guess.side, NONE);
    VD t = guess.at + BESIDE * guess.side, number = party->skip; /* of a pair, first a look beside it */
    for (int l = 0; l < LANES; ++l)
        LANE(grid, l) = (double)at[l], LANE(number, l) += (double)k[l];
    VI going = fits;
    party->K.near = LOOKING, party->K.vanishing = VANISHED;
    for (int turn = 0; turn < 6 && ANY(going); ++turn) {
        LN(Values) f;
        VD d, w, u = step * (grid + t), x = SEL(going, LN(frequencies)(party, u, &d), party->usual);
        LN(evaluate)(P, &party->K, x, NULL, NONE, &f);
        LN(mend)(P, party, going, x, NONE, &f);
        for (int l = 0; l < LANES; ++l)
            h[l].evaluations -= LANE(going, l);
        const VD y = LN(signed_value)(f.m, f.e - party->base, f.J - party->skip) / LN(steep)(u * u);
        if (!turn) { /* exact here too */
            more = y - LN(corrected)(c, NONE, t, &d);
            more = more / (LN(corrected)(c, 1.0 + NONE, t, &d) - LN(polynomial)(c, t));
        }
        const VD off = y - LN(corrected)(c, more, t, &d);
        VD next = t - y / d;
        w = LN(corrected)(c, more, next, &d) + off;
        next -= w / d;
        if (ANY(paired & going)) { /* the slope as two looks show it, and the parabola's root on its side; */
            VD bend;               /* two that are too close for that touch where f and the count say */
            if (turn == 1)
                tilt = off / (t - seen_at);
            (void)LN(corrected)(c, more, t, &w);
            (void)LN(derivatives)(c, t, &x, &bend);
            const VD rise = w + tilt, inside = rise * rise - 2.0 * y * bend;
            const VD apart = LN(roots)(SEL(LT(NONE, inside), inside, NONE));
            const VD under = f.J - number + ONE_IF(LT(NONE, guess.side)), reach = LN(roots)(ABS(2.0 * y / bend));
            const VI close = LT(inside, tilt * tilt) & ~EQ(under, 1.0 + NONE);
            next = SEL(paired, t - (rise - guess.side * SEL(LT(bend, NONE), -apart, apart)) / bend, next);
            next = SEL(paired & close, SEL(LT(under, 1.0 + NONE), t + reach, t - reach), next);
            d = SEL(paired, apart, d);
        }
        seen_at = t;
        const VD move = ABS(next - t), last = turn ? moved : move;
        fits &= ~going | (~f.hard & LT(move, 0.5 + NONE));
        const VI fine = LT(step * move * last, FINE * u) & (~paired | LT(step * move, FINER * u));
        moved = SEL(going, move, moved), slope = SEL(going, d, slope);
        t = SEL(going & fits, next, t);
        going &= fits & ~fine;
    }
    fits &= ~going;
    party->K.vanishing = VANISHING;
    if (!ANY(fits))
        return;
    const VD u = step * (grid + t);
    VD d, x = SEL(fits, LN(frequencies)(party, u, &d), party->usual);
    slope = slope * LN(steep)(u * u) / (step * d);
    LN(Values) f, g;
    const VD lo = x * (1.0 - tolerance), hi = x * (1.0 + tolerance), one = 1.0 + NONE;
    LN(evaluate)(P, &party->K, lo, NULL, -one, &f);
    LN(mend)(P, party, fits, lo, -one, &f);
    LN(evaluate)(P, &party->K, hi, NULL, one, &g);
    LN(mend)(P, party, fits, hi, one, &g);
    VI proven = fits & ~f.hard & ~g.hard & ~LT(number, f.J) & LT(number, g.J);
    party->K.near = NEAR;
    if (ANY(fits & ~proven)) { /* once more, with more care near poles */
        f.hard |= fits & ~proven, g.hard |= fits & ~proven;
        LN(mend)(P, party, fits, lo, -one, &f);
        LN(mend)(P, party, fits, hi, one, &g);
        proven = fits & ~f.hard & ~g.hard & ~LT(number, f.J) & LT(number, g.J);
    }
    const VD off = (ABS(LN(signed_value)(f.m, f.e - party->base, NONE)) -
                    ABS(LN(signed_value)(g.m, g.e - party->base, NONE))) / (2.0 * ABS(slope));
    const VD found = 0.5 * (lo + hi) + off;
    x = SEL(LT(lo, found) & LT(found, hi) & EQ(g.J - f.J, one), found, x);
    for (int l = 0; l < LANES; ++l) {
        h[l].evaluations -= 2 * LANE(fits, l);
        if (!LANE(proven, l) || !isnan(h[l].omega[k[l]]))
            continue;
        for (int64_t n = k[l]; n < h[l].count && LANE(g.J, l) > (double)(h[l].skip + n); ++n) {
            h[l].omega[n] = LANE(x, l); /* and those that coincide with it */
            h[l].width[n] = (LANE(hi, l) - LANE(lo, l)) / LANE(hi, l);
        }
    }
}

/* Prepare the hunt of a lane for the roots that are not known yet, from what its grid tells. */
static void LN(begin_hunting)(const LN(Party) *party, Hunt *h, int l)
{
    Point before = {0, {1, 0, (double)h->skip}};
    int64_t k = 0;
    h->evaluations += party->points[l];
    next_root(h);
    if (h->mode == DONE)
        return;
    for (int64_t j = 0; j < party->points[l] && k < h->count; ++j) {
        const Point p = {grid_point(h, j), {LANE(party->m[j], l), LANE(party->e[j], l), LANE(party->J[j], l)}};
        for (; k < h->count && p.f.J > (double)(h->skip + k); ++k)
            h->lo[k] = before, h->hi[k] = p;
        before = p;
    }
    h->lost = k < h->count;
    h->mode = h->lost ? DONE : h->mode;
}

static void LN(hunt_together)(const Problem *P, LN(Party) *party)
{
    party->K.near = NEAR, party->K.vanishing = VANISHING, party->K.faint = FAINT;
    for (;;) {
        VD omega = NONE, sigma = NONE;
        VI busy = BITS(NONE);
        LN(Values) f;
        double some = 0;
        for (int l = LANES - 1; l >= 0; --l)
            if (party->hunts[l].mode != DONE) {
                double side;
                some = LANE(omega, l) = next_look(party->hunts + l, &side);
                LANE(sigma, l) = side;
                LANE(busy, l) = -1;
            }
        if (!ANY(busy))
            return;
        omega = SEL(busy, omega, some + NONE);
        LN(evaluate)(P, &party->K, omega, NULL, sigma, &f);
        LN(mend)(P, party, busy, omega, sigma, &f);
        for (int l = 0; l < LANES; ++l)
            if (LANE(busy, l)) {
                const Point p = {LANE(omega, l), {LANE(f.m, l), LANE(f.e, l), LANE(f.J, l)}};
                look(party->hunts + l, p);
            }
    }
}
