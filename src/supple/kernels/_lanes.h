/* Several numbers side by side, and the elementary functions on them. Included once for every width
   LANES; with one lane the numbers are plain doubles. Every operation is the same at every width, so
   that a number does not depend on its lane or on the width: no fused operation, no library
   function but sqrt and division, which are correctly rounded everywhere. */

#undef LN
#undef VD
#undef VI
#undef LT
#undef EQ
#undef BITS
#undef NUMBER
#undef ANY
#undef LANE
#undef SHIFTED
#undef NONE
#undef SEL
#undef ABS
#undef ONE_IF
#define LN(name) CAT(name, LANES)
#define VD LN(vd)
#define VI LN(vi)

#if LANES == 1
typedef double VD;
typedef int64_t VI;
#define LT(a, b) (-(int64_t)((a) < (b)))
#define EQ(a, b) (-(int64_t)((a) == (b)))
#define BITS(x) LN(bits)(x)
#define NUMBER(x) LN(number)(x)
#define ANY(m) ((m) != 0)
#define LANE(x, l) (x)
#define SHIFTED(x, n) ((int64_t)((uint64_t)(x) << (n)))
static inline VI LN(bits)(VD x)
{
    VI y;
    memcpy(&y, &x, sizeof y);
    return y;
}
static inline VD LN(number)(VI x)
{
    VD y;
    memcpy(&y, &x, sizeof y);
    return y;
}
#else
typedef double VD __attribute__((vector_size(8 * LANES)));
typedef int64_t VI __attribute__((vector_size(8 * LANES)));
#define LT(a, b) ((VI)((a) < (b)))
#define EQ(a, b) ((VI)((a) == (b)))
#define BITS(x) ((VI)(x))
#define NUMBER(x) ((VD)(x))
#define ANY(m) LN(any)(m)
#define LANE(x, l) ((x)[l])
#define SHIFTED(x, n) ((x) << (n))
ALWAYS_INLINE int LN(any)(VI m)
{
    int64_t any = 0;
    for (int l = 0; l < LANES; ++l)
        any |= m[l];
    return any != 0;
}
#endif

#define NONE ((VD){0})
#define SEL(m, a, b) LN(sel)(m, a, b)
#define ABS(x) NUMBER(BITS(x) & INT64_MAX)
#define ONE_IF(m) NUMBER((m) & 0x3ff0000000000000) /* 1.0 where m, else 0.0 */

ALWAYS_INLINE VD LN(sel)(VI m, VD a, VD b)
{
    return NUMBER((m & BITS(a)) | (~m & BITS(b)));
}

ALWAYS_INLINE VD LN(roots)(VD x)
{
    VD y = NONE;
#if LANES == 1
    y = sqrt(x);
#else
    for (int l = 0; l < LANES; ++l)
        y[l] = sqrt(x[l]);
#endif
    return y;
}

/* A whole number below 2^51 as a double. */
ALWAYS_INLINE VD LN(whole)(VI n)
{
    return NUMBER(n + 0x4338000000000000) - 6755399441055744.0;
}

/* sin x, cos x and floor(x / (pi / 2)), consistent with their signs, for 0 <= x < FAR_OUT: x less a
   multiple n of pi / 2, which is given in parts of 33 bits so that n times a part is exact; then
   Taylor's series on |r| <= pi / 4, whose next term is below 1e-19. */
ALWAYS_INLINE void LN(sine_cosine)(VD x, VD *sine, VD *cosine, VD *quarter)
{
    const double shift = 6755399441055744.0; /* 1.5 2^52: what is added to it is rounded to a whole number */
    VD shifted = x * (2 / PI) + shift, n = shifted - shift;
    VD r = ((x - n * 0x1.921fb544p+0) - n * 0x1.0b4611a6p-34) - n * 0x1.3198a2e037073p-69;
    VD y = r * r;
    VD s = r + r * y * (-1.0 / 6 + y * (1.0 / 120 + y * (-1.0 / 5040 + y * (1.0 / 362880 +
           y * (-1.0 / 39916800 + y * (1.0 / 6227020800 + y * (-1.0 / 1307674368000 +
           y * (1.0 / 355687428096000))))))));
    VD c = 1.0 - (0.5 * y - y * y * (1.0 / 24 + y * (-1.0 / 720 + y * (1.0 / 40320 +
           y * (-1.0 / 3628800 + y * (1.0 / 479001600 + y * (-1.0 / 87178291200 +
           y * (1.0 / 20922789888000))))))));
    VI q = BITS(shifted), odd = -(q & 1);
    *sine = NUMBER(BITS(SEL(odd, c, s)) ^ SHIFTED(q & 2, 62));
    *cosine = NUMBER(BITS(SEL(odd, s, c)) ^ SHIFTED((q + 1) & 2, 62));
    *quarter = n - ONE_IF(LT(r, NONE));
}

/* exp(x) for -60 < x <= 0: 2^n exp(r), |r| <= ln 2 / 2, by Taylor's series. */
ALWAYS_INLINE VD LN(decay)(VD x)
{
    const double shift = 6755399441055744.0;
    VD shifted = x * 1.4426950408889634 + shift, n = shifted - shift;
    VD r = (x - n * 0x1.62e42feep-1) - n * 0x1.a39ef35793c76p-33;
    VD e = 1.0 + r * (1.0 + r * (0.5 + r * (1.0 / 6 + r * (1.0 / 24 + r * (1.0 / 120 + r * (1.0 / 720 +
           r * (1.0 / 5040 + r * (1.0 / 40320 + r * (1.0 / 362880 + r * (1.0 / 3628800 +
           r * (1.0 / 39916800 + r * (1.0 / 479001600 + r * (1.0 / 6227020800)))))))))))));
    return NUMBER(BITS(e) + SHIFTED(BITS(shifted), 52));
}

/* A determinant m 2^e, the count of natural frequencies below omega, and whether a lane needs more
   care than all lanes at once can have. */
typedef struct {
    VD m, J;
    VI e, hard;
    int put_off, room; /* pivots put off, of how many that may be, */
    double faint;      /* when this small beside their terms, */
    double vanishing;  /* or not used alone, this small beside their couplings */
} LN(Values);

/* Keep mantissa and exponent apart; what is zero or not finite is left and marked. */
ALWAYS_INLINE void LN(normalise)(LN(Values) *f)
{
    VI raw = BITS(f->m), e = (raw >> 52) & 0x7ff;
    VI plain = ~(EQ(e, 0) | EQ(e, 0x7ff));
    f->hard |= ~plain;
    f->e += plain & (e - 1022);
    f->m = NUMBER((raw & ~(plain & 0x7ff0000000000000)) | (plain & 0x3fe0000000000000));
}
