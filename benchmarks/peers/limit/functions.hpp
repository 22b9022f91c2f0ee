// The transcendental functions that the pictures need, inlined.
//
// Calls into a vector library would spill every register, and the compiler calls one of itself only
// under -ffast-math. The polynomials are those of the Cephes library (S. L. Moshier, 1989), good to
// two units in the last place over the arguments that occur.
#pragma once

#include "lanes.hpp"

namespace limit {

inline Lanes exp(Lanes x) {
    x = at_most(at_least(x, -87.0f), 88.0f);
    Lanes n = rounded(x * 1.44269504f);
    x = (x - n * 0.693359375f) + n * 2.12194440e-4f;
    Lanes p = 1.9875691500e-4f * x + 1.3981999507e-3f;
    p = p * x + 8.3334519073e-3f;
    p = p * x + 4.1665795894e-2f;
    p = p * x + 1.6666665459e-1f;
    p = p * x + 5.0000001201e-1f;
    p = p * (x * x) + (x + 1.0f);
    return p * power_of_two(whole(n));
}

// log(1 + x) for 0 <= x <= 1.
inline Lanes log1p_of_unit(Lanes x) {
    Mask large = x > 0.41421356f;
    Lanes f = where(large, 0.5f * x - 0.5f, x), square = f * f;
    Lanes p = 7.0376836292e-2f * f - 1.1514610310e-1f;
    p = p * f + 1.1676998740e-1f;
    p = p * f - 1.2420140846e-1f;
    p = p * f + 1.4249322787e-1f;
    p = p * f - 1.6668057665e-1f;
    p = p * f + 2.0000714765e-1f;
    p = p * f - 2.4999993993e-1f;
    p = p * f + 3.3333331174e-1f;
    Lanes log = ((f * square) * p - 0.5f * square) + f;
    return log + where(large, all(0.69314718f), all(0.0f));
}

// Sine and cosine together, for arguments of less than a few thousand.
inline void sine_and_cosine(Lanes x, Lanes &sine, Lanes &cosine) {
    Lanes n = rounded(x * 0.636619772f);
    x = ((x - n * 1.5703125f) - n * 4.83751297e-4f) - n * 7.54978995e-8f;
    Lanes square = x * x;
    Lanes s = (-1.9515295891e-4f * square + 8.3321608736e-3f) * square - 1.6666654611e-1f;
    s = s * square * x + x;
    Lanes c = (2.443315711809948e-5f * square - 1.388731625493765e-3f) * square;
    c = (c + 4.166664568298827e-2f) * (square * square) + (1.0f - 0.5f * square);
    Mask quadrant = whole(n);
    Mask swapped = bit(quadrant, 1), lower = bit(quadrant, 2);
    Mask left = {(lower.a ^ swapped.a), (lower.b ^ swapped.b)};
    sine = where(swapped, c, s);
    cosine = where(swapped, s, c);
    sine = where(lower, -sine, sine);
    cosine = where(left, -cosine, cosine);
}

}  // namespace limit
