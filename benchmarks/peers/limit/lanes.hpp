// Many pixels at once: two vector registers that are computed side by side.
//
// A march is a long chain in which each step waits for the one before, so that one register alone
// leaves the processor idle three quarters of the time.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#if defined(__AVX__)
#include <immintrin.h>
#endif

namespace limit {

#if defined(__AVX512F__)
constexpr int WIDTH = 16;
#elif defined(__AVX2__)
constexpr int WIDTH = 8;
#else
constexpr int WIDTH = 4;
#endif
constexpr int LANES = 2 * WIDTH;

using Floats = float __attribute__((vector_size(4 * WIDTH)));
using Integers = std::int32_t __attribute__((vector_size(4 * WIDTH)));

inline Floats all_floats(float x) { return x - Floats{}; }

// Spelt as instructions: the compiler would make a comparison and a selection of `a < b ? a : b`,
// since it must keep the sign of zeros.
#if defined(__AVX512F__)
inline Floats least(Floats a, Floats b) { return (Floats)_mm512_min_ps((__m512)a, (__m512)b); }
inline Floats greatest(Floats a, Floats b) { return (Floats)_mm512_max_ps((__m512)a, (__m512)b); }
#elif defined(__AVX2__)
inline Floats least(Floats a, Floats b) { return (Floats)_mm256_min_ps((__m256)a, (__m256)b); }
inline Floats greatest(Floats a, Floats b) { return (Floats)_mm256_max_ps((__m256)a, (__m256)b); }
#else
inline Floats least(Floats a, Floats b) { return a < b ? a : b; }
inline Floats greatest(Floats a, Floats b) { return a > b ? a : b; }
#endif
inline Floats absolute(Floats x) { return (Floats)((Integers)x & 0x7fffffff); }
inline Floats sqrt(Floats x) {
    for (int i = 0; i < WIDTH; ++i) x[i] = __builtin_sqrtf(x[i]);
    return x;
}

struct Lanes {
    Floats a, b;
};
struct Mask {
    Integers a, b;
};

inline Lanes all(float x) { return {all_floats(x), all_floats(x)}; }

#define OPERATOR(op)                                                                         \
    inline Lanes operator op(Lanes x, Lanes y) { return {x.a op y.a, x.b op y.b}; }          \
    inline Lanes operator op(Lanes x, float y) { return {x.a op y, x.b op y}; }              \
    inline Lanes operator op(float x, Lanes y) { return {x op y.a, x op y.b}; }
OPERATOR(+)
OPERATOR(-)
OPERATOR(*)
OPERATOR(/)
#undef OPERATOR
inline Lanes operator-(Lanes x) { return {-x.a, -x.b}; }

#define COMPARISON(op)                                                                       \
    inline Mask operator op(Lanes x, Lanes y) { return {x.a op y.a, x.b op y.b}; }           \
    inline Mask operator op(Lanes x, float y) { return {x.a op y, x.b op y}; }
COMPARISON(<)
COMPARISON(<=)
COMPARISON(>)
COMPARISON(>=)
#undef COMPARISON
inline Mask operator&(Mask x, Mask y) { return {x.a & y.a, x.b & y.b}; }
inline Mask operator|(Mask x, Mask y) { return {x.a | y.a, x.b | y.b}; }
inline Lanes where(Mask m, Lanes x, Lanes y) { return {m.a ? x.a : y.a, m.b ? x.b : y.b}; }

inline Lanes least(Lanes x, Lanes y) { return {least(x.a, y.a), least(x.b, y.b)}; }
inline Lanes greatest(Lanes x, Lanes y) { return {greatest(x.a, y.a), greatest(x.b, y.b)}; }
inline Lanes at_least(Lanes x, float low) { return greatest(x, all(low)); }
inline Lanes at_most(Lanes x, float high) { return least(x, all(high)); }
inline Lanes absolute(Lanes x) { return {absolute(x.a), absolute(x.b)}; }
inline Lanes sqrt(Lanes x) { return {sqrt(x.a), sqrt(x.b)}; }
inline Lanes rsqrt(Lanes x) { return 1.0f / sqrt(x); }

// To the nearest integer: float32 has no digits left for a fraction at 1.5 * 2^23.
inline Lanes rounded(Lanes x) { return (x + 12582912.0f) - 12582912.0f; }
inline Mask whole(Lanes x) {
    return {__builtin_convertvector(x.a, Integers), __builtin_convertvector(x.b, Integers)};
}
inline Mask bit(Mask x, int which) { return {(x.a & which) != 0, (x.b & which) != 0}; }
inline Lanes power_of_two(Mask n) {
    return {(Floats)((n.a + 127) << 23), (Floats)((n.b + 127) << 23)};
}

}  // namespace limit
