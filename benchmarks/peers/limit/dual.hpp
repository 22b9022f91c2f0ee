// Forward-mode dual numbers of many pixels at once.
//
// A value that does not depend on the parameter is a plain `Lanes` or `float`; only what depends on
// it is a `Dual`. So nothing is spent on tangents that are zero, as a person would write it by hand.
#pragma once

#include "functions.hpp"

namespace limit {

struct Dual {
    Lanes v, d;  // value and tangent
};

template <class T>
concept Constant = std::is_same_v<T, Lanes> || std::is_same_v<T, float>;

inline Dual operator-(Dual a) { return {-a.v, -a.d}; }
inline Dual operator+(Dual a, Dual b) { return {a.v + b.v, a.d + b.d}; }
inline Dual operator-(Dual a, Dual b) { return {a.v - b.v, a.d - b.d}; }
inline Dual operator*(Dual a, Dual b) { return {a.v * b.v, a.d * b.v + a.v * b.d}; }
inline Dual operator/(Dual a, Dual b) {
    Lanes inverse = 1.0f / b.v, v = a.v * inverse;
    return {v, (a.d - v * b.d) * inverse};
}
template <Constant C> inline Dual operator+(Dual a, C b) { return {a.v + b, a.d}; }
template <Constant C> inline Dual operator+(C a, Dual b) { return {a + b.v, b.d}; }
template <Constant C> inline Dual operator-(Dual a, C b) { return {a.v - b, a.d}; }
template <Constant C> inline Dual operator-(C a, Dual b) { return {a - b.v, -b.d}; }
template <Constant C> inline Dual operator*(Dual a, C b) { return {a.v * b, a.d * b}; }
template <Constant C> inline Dual operator*(C a, Dual b) { return {a * b.v, a * b.d}; }
template <Constant C> inline Dual operator/(Dual a, C b) { return {a.v / b, a.d / b}; }
template <Constant C> inline Dual operator/(C a, Dual b) {
    Lanes inverse = 1.0f / b.v, v = a * inverse;
    return {v, -(v * b.d) * inverse};
}

inline Lanes value(Lanes x) { return x; }
inline Lanes value(Dual x) { return x.v; }

inline Dual exp(Dual x) {
    Lanes v = exp(x.v);
    return {v, v * x.d};
}
inline Dual sin(Dual x) {
    Lanes sine, cosine;
    sine_and_cosine(x.v, sine, cosine);
    return {sine, cosine * x.d};
}
inline Dual sqrt(Dual x) {
    Lanes v = sqrt(x.v);
    return {v, 0.5f * x.d / v};
}
inline Dual rsqrt(Dual x) {
    Lanes v = rsqrt(x.v);
    return {v, -0.5f * v * v * v * x.d};
}
inline Dual at_least(Dual x, float low) { return {at_least(x.v, low), where(x.v >= low, x.d, all(0.0f))}; }
inline Dual at_most(Dual x, float high) { return {at_most(x.v, high), where(x.v <= high, x.d, all(0.0f))}; }

// The stand-ins of the renderers.

template <class N> inline N soft_step(N x) {
    N inside = at_most(at_least(x, 0.0f), 1.0f);
    return inside * inside * (3.0f - 2.0f * inside);
}
template <class N> inline N safe_sqrt(N x, float floor = 1e-12f) { return sqrt(at_least(x, floor)); }
template <class N> inline N soft_relu(N x, float width) {
    return 0.5f * (x + sqrt(x * x + width * width));
}
inline Lanes logistic(Lanes x) {
    Lanes e = exp(-absolute(x));
    return where(x >= 0.0f, all(1.0f), e) / (1.0f + e);
}
inline Dual logistic(Dual x) {
    Lanes v = logistic(x.v);
    return {v, v * (1.0f - v) * x.d};
}
inline Lanes softplus(Lanes x) {
    return at_least(x, 0.0f) + log1p_of_unit(exp(-absolute(x)));
}
inline Dual softplus(Dual x) {
    Lanes e = exp(-absolute(x.v));
    Lanes slope = where(x.v >= 0.0f, all(1.0f), e) / (1.0f + e);
    return {at_least(x.v, 0.0f) + log1p_of_unit(e), slope * x.d};
}

// Where pixels are, and where their results go.

struct Frame {
    int width, height;
    float pitch() const { return 2.0f / static_cast<float>(width < height ? width : height); }
    float y(int row) const {
        return ((0.5f * static_cast<float>(height) - 0.5f) - static_cast<float>(row)) * pitch();
    }
    Lanes x(int column) const {
        Lanes x;
        for (int i = 0; i < WIDTH; ++i) {
            x.a[i] = static_cast<float>(column + i);
            x.b[i] = static_cast<float>(column + WIDTH + i);
        }
        return (x + (0.5f - 0.5f * static_cast<float>(width))) * pitch();
    }
};

// Three channels beside each other: entry j of the k-th vector is channel (k WIDTH + j) % 3.
template <int K> inline Floats interleaved(Floats first, Floats second, Floats third) {
    Integers of_two{}, of_third{};
    for (int j = 0; j < WIDTH; ++j) {
        int at = K * WIDTH + j, pixel = at / 3, channel = at % 3;
        of_two[j] = channel == 1 ? WIDTH + pixel : pixel;
        of_third[j] = channel == 2 ? WIDTH + pixel : j;
    }
    return __builtin_shuffle(__builtin_shuffle(first, second, of_two), third, of_third);
}

inline void store(float *to, const Lanes (&channels)[3], int count) {
    const auto &[r, g, b] = channels;
    const Floats out[6] = {
        interleaved<0>(r.a, g.a, b.a), interleaved<1>(r.a, g.a, b.a), interleaved<2>(r.a, g.a, b.a),
        interleaved<0>(r.b, g.b, b.b), interleaved<1>(r.b, g.b, b.b), interleaved<2>(r.b, g.b, b.b),
    };
    if (count == LANES) {
        std::memcpy(to, out, sizeof out);
    } else {
        std::memcpy(to, out, 3 * sizeof(float) * static_cast<unsigned>(count));
    }
}

struct Shaded {
    Lanes value[3], tangent[3];
};

// A map of every pixel: `shade(x, y)` gives three channels with tangents.
template <class Shade>
void map(Frame frame, int threads, float *image, float *tangents, Shade shade) {
#pragma omp parallel for schedule(dynamic, 8) num_threads(threads)
    for (int row = 0; row < frame.height; ++row) {
        float y = frame.y(row);
        std::int64_t start = std::int64_t{3} * row * frame.width;
        for (int column = 0; column < frame.width; column += LANES) {
            int left = frame.width - column;
            Shaded found = shade(frame.x(column), y);
            std::int64_t at = start + 3 * column;
            store(image + at, found.value, left < LANES ? left : LANES);
            store(tangents + at, found.tangent, left < LANES ? left : LANES);
        }
    }
}

}  // namespace limit
