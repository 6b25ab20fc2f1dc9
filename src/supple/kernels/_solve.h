/* The hunts of all configurations, LANES of them side by side. Included for every width. */

/* One look at a lane that needs care, alone; a frequency at which nothing finite is left, such as a
   root of a part that is decoupled met exactly, is seen from just above. */
static Point LN(careful)(const Problem *P, Block1 *alone, double omega, double sigma)
{
    Values1 f;
    double step = 4 * DBL_EPSILON;
    for (int attempt = 0;; ++attempt, step *= 8) {
        evaluate1(P, alone, omega, NULL, sigma, &f);
        Point p = {omega, {f.m, f.e, f.J}};
        if (counts(p.f) || attempt == 4)
            return p;
        omega *= 1 + step;
    }
}

typedef struct {
    LN(Block) K;
    Block1 alone;
    int64_t filled, b[LANES];
    Hunt hunts[LANES];
} LN(Party);

static Point LN(seen)(const Problem *P, LN(Party) *party, const LN(Values) *f, int l, double omega,
                      double sigma)
{
    Point p = {omega, {LANE(f->m, l), LANE(f->e, l), LANE(f->J, l)}};
    if (LANE(f->hard, l) == 0 && counts(p.f))
        return p;
    if (party->filled != party->b[l]) {
        fill_block1(P, &party->alone, party->b + l);
        party->filled = party->b[l];
    }
    return LN(careful)(P, &party->alone, omega, sigma);
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

static void LN(climb_together)(const Problem *P, LN(Party) *party, int lanes, Table *table)
{
    int climbing = lanes;
    for (int64_t j = 0; climbing && j < party->hunts[0].room; ++j) {
        VD omega = NONE;
        LN(Values) f;
        const double first = grid_point(party->hunts, j);
        for (int l = 0; l < LANES; ++l)
            LANE(omega, l) = P->same_lengths || l >= lanes ? first : grid_point(party->hunts + l, j);
        const Stiffness1 *shared = LN(shared_at)(P, table, j, LANE(omega, 0));
        int usable = shared != NULL;
        for (int64_t i = 0; usable && i < P->n; ++i)
            usable = shared[i].hard == 0 && shared[i].pole.distance > NEAR;
        if (usable || !shared || LANES == 1)
            LN(evaluate)(P, &party->K, omega, LANES == 1 ? NULL : shared, NONE, &f);
        else
            f.hard = ~BITS(NONE);
        for (int l = 0; l < lanes; ++l)
            if (party->hunts[l].mode == CLIMB)
                climbing -= climb(party->hunts + l, LN(seen)(P, party, &f, l, LANE(omega, l), 0));
    }
}

static void LN(hunt_together)(const Problem *P, LN(Party) *party, int lanes)
{
    for (;;) {
        VD omega = NONE, sigma = NONE;
        LN(Values) f;
        int busy = -1;
        for (int l = lanes - 1; l >= 0; --l)
            if (party->hunts[l].mode != DONE && party->hunts[l].mode != CLIMB) {
                double side;
                LANE(omega, l) = next_look(party->hunts + l, &side);
                LANE(sigma, l) = side;
                busy = l;
            }
        if (busy < 0)
            return;
        for (int l = 0; l < LANES; ++l)
            if (LANE(omega, l) == 0)
                LANE(omega, l) = LANE(omega, busy);
        LN(evaluate)(P, &party->K, omega, NULL, sigma, &f);
        for (int l = 0; l < lanes; ++l)
            if (party->hunts[l].mode != DONE && party->hunts[l].mode != CLIMB)
                look(party->hunts + l,
                     LN(seen)(P, party, &f, l, LANE(omega, l), LANE(sigma, l)));
    }
}

/* Fill omega, width (B, count) and evaluations (B,); returns 0 without memory. */
static int LN(solve)(const Problem *P, int64_t count, const int64_t *skip, double guess,
                     double tolerance, double *omega, double *width, int64_t *evaluations, Table *table)
{
    size_t bytes = sizeof(LN(Party));
    LN(Party) *party = aligned_room(bytes);
    if (!party)
        return 0;
    memset(party, 0, sizeof *party);
    int ok = LN(make_block)(P, &party->K) && make_block1(P, &party->alone);
    const int64_t room = 4 * count + 64 + 4000;
    for (int l = 0; l < LANES; ++l) {
        Hunt *h = party->hunts + l;
        h->count = count, h->tolerance = tolerance, h->room = room;
        h->lo = malloc(sizeof(Point) * (size_t)(2 * count + room));
        h->hi = h->lo + count, h->grid = h->lo + 2 * count;
        ok &= h->lo != NULL;
    }
    for (int64_t first = 0; ok && first < P->B; first += LANES) {
        const int lanes = (int)(P->B - first < LANES ? P->B - first : LANES);
        for (int l = 0; l < LANES; ++l)
            party->b[l] = first + (l < lanes ? l : 0);
        party->filled = -1;
        LN(fill_block)(P, &party->K, party->b);
        for (int l = 0; l < lanes; ++l) {
            const int64_t b = first + l;
            waves_along(P, P->L + b * P->n, guess, party->hunts + l);
            begin_hunt(party->hunts + l, skip[b], omega + b * count, width + b * count);
        }
        LN(climb_together)(P, party, lanes, table);
        LN(hunt_together)(P, party, lanes);
        for (int l = 0; l < lanes; ++l) {
            Hunt *h = party->hunts + l;
            evaluations[first + l] = h->evaluations;
            for (int64_t k = 0; k < count && (h->lost || h->mode == CLIMB); ++k)
                h->omega[k] = h->width[k] = NAN;
        }
    }
    for (int l = 0; l < LANES; ++l)
        free(party->hunts[l].lo);
    LN(free_block)(&party->K);
    free_block1(&party->alone);
    aligned_free(party);
    return ok;
}
