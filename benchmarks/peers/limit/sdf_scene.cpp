// d(image)/d(ball) of `renderers/sdf_scene.py`, by hand.
//
// Searches run on plain numbers; what they find is evaluated once with tangents, as in the renderer.
// Every ray takes all of the renderer's steps: a march that stopped when its rays have arrived would
// be faster, and less than what the others of the table compute.

#include "dual.hpp"

using namespace limit;

namespace {

constexpr float GROUND = -0.62f, BOUND = 1.9f, HAZE = 9.0f;
constexpr float FLOOR[3] = {0.36f, 0.35f, 0.36f}, SKY[3] = {0.50f, 0.68f, 1.00f};
constexpr float DUSK[3] = {0.42f, 0.40f, 0.44f};
constexpr int MARCH_STEPS = 40, NEWTON_STEPS = 4, CHORD_STEPS = 8, SHADOW_SAMPLES = 24;
constexpr float TOLERANCE = 1e-4f, STEEPEST = -0.02f;
constexpr float CHORD_STEP = 0.03f, CHORD_GROWTH = 1.15f, CLEAR = 0.004f;
constexpr float SHADOW_NEAR = 0.04f, SHADOW_FAR = 2.6f, TAPS[2] = {0.12f, 0.45f};
constexpr double PI = 3.14159265358979323846;

// In the order in which the renderer declares them.
struct Parameters {
    float ball, ring, thickness, blend, light[3], penumbra, ball_colour[3], ring_colour[3], gloss,
        ambient, exposure, distance, elevation, azimuth, view, softness;
};

template <class N> struct Vector {
    N x, y, z;
};
template <class A, class B> auto dot(Vector<A> a, Vector<B> b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
template <class O, class T, class D> auto along(Vector<O> o, T t, Vector<D> d) {
    return Vector<decltype(o.x + t * d.x)>{o.x + t * d.x, o.y + t * d.y, o.z + t * d.z};
}
template <class N> Vector<N> unit(Vector<N> v) {
    N length = rsqrt(at_least(dot(v, v), 1e-12f));
    return {v.x * length, v.y * length, v.z * length};
}
template <class N> Vector<Lanes> constant(Vector<N> v) { return {value(v.x), value(v.y), value(v.z)}; }

// A vector that is the same for all pixels.
using Fixed = Vector<float>;

// Ball and ring melted together; `B` is `Dual` where the ball's radius has a tangent.
template <class B> struct Solid {
    B ball;
    float ring, thickness, blend;

    template <class N> auto distance(Vector<N> p) const {
        N axis2 = p.x * p.x + p.z * p.z;
        N out = safe_sqrt(axis2) - ring, up = p.y - (thickness + GROUND);
        auto to_ball = safe_sqrt(axis2 + p.y * p.y) - ball;
        N to_ring = safe_sqrt(out * out + up * up) - thickness;
        return to_ring - blend * softplus((to_ring - to_ball) * (1.0f / blend));
    }

    // Gradient of the distance, and the weight of the ring in it.
    template <class N> auto gradient(Vector<N> p) const {
        N axis2 = p.x * p.x + p.z * p.z;
        N axis = safe_sqrt(axis2), radius = safe_sqrt(axis2 + p.y * p.y);
        N out = axis - ring, up = p.y - (thickness + GROUND), tube = safe_sqrt(out * out + up * up);
        auto share = logistic(((radius - ball) - (tube - thickness)) / blend);
        auto of_ball = (1.0f - share) / radius, of_ring = share / tube;
        auto outwards = of_ball + of_ring * out / axis;
        using R = decltype(share);
        struct Found {
            Vector<R> gradient;
            R share;
        };
        return Found{{p.x * outwards, p.y * of_ball + up * of_ring, p.z * outwards}, share};
    }
};
using Still = Solid<float>;
using Moving = Solid<Dual>;

Lanes clamped_slope(Vector<Lanes> gradient, Vector<Lanes> ray) {
    return at_most(dot(gradient, ray), STEEPEST);
}

// Go on through a short chord until the solid is clearly left behind.
Lanes leave(const Still &solid, Fixed eye, Vector<Lanes> ray, Lanes t) {
    Vector<Lanes> start = along(eye, t, ray);
    Mask stays = (dot(solid.gradient(start).gradient, ray) < STEEPEST) &
                 (absolute(solid.distance(start)) > TOLERANCE);
    float step = CHORD_STEP;
    for (int i = 0; i < CHORD_STEPS; ++i, step *= CHORD_GROWTH) {
        Lanes depth = -solid.distance(along(eye, t, ray));
        t = where(stays | (depth < -CLEAR), t, t + at_least(depth, step));
    }
    return t;
}

struct Hit {
    Dual t;
    Lanes hit;
};

Hit first_hit(const Still &still, const Moving &solid, Fixed eye, Vector<Lanes> ray, Lanes t) {
    Lanes far = all(std::sqrt(dot(eye, eye)) + BOUND);
    for (int i = 0; i < MARCH_STEPS; ++i) t = least(t + still.distance(along(eye, t, ray)), far);
    for (int i = 0; i < NEWTON_STEPS; ++i) {
        Vector<Lanes> point = along(eye, t, ray);
        Lanes slope = clamped_slope(still.gradient(point).gradient, ray);
        t = least(t - at_most(at_least(still.distance(point) / slope, -0.05f), 0.05f), far);
    }
    Vector<Lanes> found = along(eye, t, ray);
    Lanes hit = where(absolute(still.distance(found)) < TOLERANCE, all(1.0f), all(0.0f));
    Lanes slope = clamped_slope(still.gradient(found).gradient, ray);
    return {t - solid.distance(found) * hit / slope, hit};
}

template <class N>
Dual light_seen(const Still &still, const Moving &solid, Vector<N> point, Fixed towards, float penumbra) {
    Vector<Lanes> start = constant(point);
    const float growth = std::pow(SHADOW_FAR / SHADOW_NEAR, 1.0f / (SHADOW_SAMPLES - 1));
    Lanes nearest = all(SHADOW_FAR);
    Lanes smallest = still.distance(along(start, SHADOW_FAR, towards)) / SHADOW_FAR;
    float s = SHADOW_NEAR;
    for (int i = 0; i < SHADOW_SAMPLES - 1; ++i, s *= growth) {
        Lanes angle = still.distance(along(start, s, towards)) * (1.0f / s);
        nearest = where(angle < smallest, all(s), nearest);
        smallest = least(angle, smallest);
    }
    Dual angle = solid.distance(along(point, nearest, towards)) / nearest;
    return soft_step(0.5f + 0.5f * angle / penumbra);
}

template <class P, class N> Dual openness(const Moving &solid, Vector<P> point, Vector<N> normal) {
    Dual near = soft_step(solid.distance(along(point, TAPS[0], normal)) / TAPS[0]);
    Dual far = soft_step(solid.distance(along(point, TAPS[1], normal)) / TAPS[1]);
    return (near + far) * 0.5f;
}

}  // namespace

extern "C" void map_sdf_scene(const float *numbers, int width, int height, int threads, float *image,
                              float *tangents) {
    Parameters p;
    std::memcpy(&p, numbers, sizeof p);
    float rise = p.elevation * static_cast<float>(PI / 180);
    float turn = p.azimuth * static_cast<float>(PI / 180);
    float reach = std::tan(p.view * static_cast<float>(PI / 360));
    Fixed back = {std::cos(rise) * std::sin(turn), std::sin(rise), std::cos(rise) * std::cos(turn)};
    Fixed right = {std::cos(turn), 0.0f, -std::sin(turn)};
    Fixed up = {-std::sin(rise) * std::sin(turn), std::cos(rise), -std::sin(rise) * std::cos(turn)};
    Fixed eye = {back.x * p.distance, back.y * p.distance, back.z * p.distance};
    float length = 1.0f / std::sqrt(p.light[0] * p.light[0] + p.light[1] * p.light[1] +
                                    p.light[2] * p.light[2]);
    Fixed towards = {p.light[0] * length, p.light[1] * length, p.light[2] * length};
    float gain = -std::exp2(p.exposure);
    float begin = std::sqrt(dot(eye, eye)) - BOUND;
    begin = begin > 0.0f ? begin : 0.0f;

    map({width, height}, threads, image, tangents, [=](Lanes px, float py) {
        Still still = {p.ball, p.ring, p.thickness, p.blend};
        Moving solid = {{all(p.ball), all(1.0f)}, p.ring, p.thickness, p.blend};
        Lanes x = px * reach;
        float y = py * reach;
        Vector<Lanes> ray = unit(Vector<Lanes>{x * right.x + (y * up.x - back.x),
                                               all(y * up.y - back.y),
                                               x * right.z + (y * up.z - back.z)});

        Hit near = first_hit(still, solid, eye, ray, all(begin));
        Hit far = first_hit(still, solid, eye, ray, leave(still, eye, ray, near.t.v));

        // The floor, which the haze turns into the backdrop.
        Lanes depth = (eye.y - GROUND) / at_least(-ray.y, 1e-2f);
        Lanes clear = exp(-((depth / HAZE) * (depth / HAZE)));
        Vector<Lanes> ground = along(eye, depth, ray);
        float sun_on_floor = 0.5f * (towards.y + std::sqrt(towards.y * towards.y + 0.05f * 0.05f));
        Dual sun = sun_on_floor * light_seen(still, solid, ground, towards, p.penumbra);
        Dual sky = p.ambient * openness(solid, ground, Fixed{0.0f, 1.0f, 0.0f});
        Lanes height = logistic(8.0f * ray.y + 1.0f);
        Dual colours[3];
        for (int i = 0; i < 3; ++i) {
            Lanes backdrop = DUSK[i] + height * (SKY[i] - DUSK[i]);
            colours[i] = backdrop + clear * (FLOOR[i] * (sun + sky * SKY[i]) - backdrop);
        }

        const Hit layers[2] = {far, near};
        for (const Hit &layer : layers) {
            Vector<Dual> point = along(eye, layer.t, ray);
            auto [gradient, share] = solid.gradient(point);
            Vector<Dual> normal = unit(gradient);
            Dual facing = at_most(dot(normal, ray), 0.0f);
            Dual sun = soft_relu(dot(normal, towards), 0.05f) *
                       light_seen(still, solid, point, towards, p.penumbra);
            Dual sky = (p.ambient * (0.6f + 0.4f * normal.y)) * openness(solid, point, normal);
            Vector<Lanes> half =
                unit(Vector<Lanes>{towards.x - ray.x, towards.y - ray.y, towards.z - ray.z});
            Dual shine = sun * exp(p.gloss * (dot(normal, half) - 1.0f));
            Dual upwards = ray.y - 2.0f * facing * normal.y;
            Dual slant = 1.0f + facing;
            Dual fresnel = 0.06f + 0.7f * (slant * slant * slant);
            shine = shine + sky * (fresnel * logistic(9.0f * upwards));
            Dual grazing = facing / p.softness;
            Dual cover = layer.hit * soft_step(grazing * grazing);
            for (int i = 0; i < 3; ++i) {
                Dual paint = p.ball_colour[i] + share * (p.ring_colour[i] - p.ball_colour[i]);
                Dual front = paint * (sun + sky * SKY[i]) + shine;
                colours[i] = colours[i] + cover * (front - colours[i]);
            }
        }
        Shaded out;
        for (int i = 0; i < 3; ++i) {
            Dual channel = 1.0f - exp(gain * colours[i]);
            out.value[i] = channel.v;
            out.tangent[i] = channel.d;
        }
        return out;
    });
}
