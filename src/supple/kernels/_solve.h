/* The roots, or the counts, of all configurations, LANES of them side by side. Included for every width. */

/* Fill J, m and e (B,) at omega (B,), guarded to the side sigma; returns 0 without memory. */
static int LN(count)(const Problem *P, const double *omega, double sigma, int64_t *J, double *m, int64_t *e)
{
    size_t bytes = sizeof(LN(Party));
    LN(Party) *party = aligned_room(bytes);
    if (!party)
        return 0;
    memset(party, 0, sizeof *party);
    const int ok = LN(make_block)(P, &party->K) && make_block1(P, &party->alone);
    party->K.faint = FAINT;
    for (int64_t first = 0; ok && first < P->B; first += LANES) {
        const int64_t some = P->B - first < LANES ? P->B - first : LANES;
        VD w = NONE;
        VI lanes = BITS(NONE);
        LN(Values) f;
        for (int l = 0; l < LANES; ++l) {
            party->b[l] = first + (l < some ? l : 0);
            LANE(w, l) = omega[party->b[l]];
            LANE(lanes, l) = l < some ? -1 : 0;
        }
        party->filled = -1;
        LN(fill_block)(P, &party->K, party->b);
        LN(evaluate)(P, &party->K, w, NULL, sigma + NONE, &f);
        LN(mend)(P, party, lanes, w, sigma + NONE, &f);
        for (int l = 0; l < some; ++l) {
            const double size = fabs(LANE(f.m, l)), number = LANE(f.J, l);
            const int known = LANE(f.hard, l) == 0 && fabs(number) < 9e15;
            J[first + l] = known ? (int64_t)number : -1;
            m[first + l] = known && fmod(number, 2) != 0 ? -size : size;
            e[first + l] = LANE(f.e, l);
        }
    }
    LN(free_block)(&party->K);
    free_block1(&party->alone);
    aligned_free(party);
    return ok;
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
    const int64_t room = 8 * count + 64 + 4000;
    bytes = sizeof(VD) * (size_t)(4 * room);
    VD *grid = aligned_room(bytes);
    ok &= grid != NULL;
    for (int l = 0; l < LANES; ++l) {
        Hunt *h = party->hunts + l;
        h->count = count, h->tolerance = tolerance;
        h->lo = malloc(sizeof(Point) * (size_t)(2 * count));
        h->hi = h->lo + count;
        ok &= h->lo != NULL;
    }
    party->single = LANES > 1 && P->B == 1;
    if (ok)
        party->m = grid, party->J = grid + room, party->f = grid + 2 * room, party->e = (VI *)(grid + 3 * room);
    for (int64_t first = 0; ok && first < P->B; first += LANES) {
        const int64_t some = P->B - first < LANES ? P->B - first : LANES;
        int64_t at[LANES] = {0};
        VI lanes = BITS(NONE);
        for (int l = 0; l < LANES; ++l) { /* where there are fewer, the first stands in and is not noted */
            const int64_t b = party->b[l] = first + (l < some ? l : 0);
            Hunt *h = party->hunts + l;
            LANE(lanes, l) = l < some || party->single ? -1 : 0;
            LANE(party->skip, l) = (double)skip[b];
            if (!P->same_lengths || !first)
                waves_along(P, P->L + b * P->n, guess, h);
            LANE(party->along, l) = h->along * h->along, LANE(party->across, l) = h->across * h->across;
            begin_hunt(h, skip[b], omega + b * count, width + b * count);
        }
        party->filled = -1;
        party->K.faint = 0;
        LN(fill_block)(P, &party->K, party->b);
        LN(climb_together)(P, party, lanes, room, table);
        for (int64_t first_root = 0; first_root < count; first_root += party->single ? LANES : 1) {
            int64_t k[LANES];
            VI hunted = lanes;
            for (int l = 0; l < LANES; ++l) {
                k[l] = first_root + (party->single ? l : 0);
                LANE(hunted, l) &= k[l] < count && isnan(party->hunts[l].omega[k[l]]) ? -1 : 0;
            }
            if (ANY(hunted))
                LN(root_together)(P, party, k, at, hunted);
        }
        for (int l = 1; l < LANES && party->single; ++l)
            party->hunts->evaluations += party->hunts[l].evaluations;
        for (int l = 0; l < some; ++l)
            LN(begin_hunting)(party, party->hunts + l, l);
        LN(hunt_together)(P, party);
        for (int l = 0; l < some; ++l) {
            Hunt *h = party->hunts + l;
            evaluations[first + l] = h->evaluations;
            for (int64_t k = 0; k < count && h->lost; ++k)
                h->omega[k] = h->width[k] = NAN;
        }
    }
    for (int l = 0; l < LANES; ++l)
        free(party->hunts[l].lo);
    aligned_free(grid);
    LN(free_block)(&party->K);
    free_block1(&party->alone);
    aligned_free(party);
    return ok;
}
