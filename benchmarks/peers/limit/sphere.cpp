// d(image)/d(radius) of `renderers/sphere.py`, by hand.

#include "dual.hpp"

using namespace limit;

namespace {

constexpr float BAND[3] = {0.96f, 0.88f, 0.72f}, RIM[3] = {0.10f, 0.22f, 0.42f};
constexpr float GLOW[3] = {0.16f, 0.20f, 0.29f}, EDGE[3] = {0.03f, 0.04f, 0.07f};
constexpr float TERMINATOR = 0.15f;

// In the order in which the renderer declares them.
struct Parameters {
    float radius, centre[2], light[3], albedo[3], ambient, diffuse, specular, shininess, frequency,
        contrast, exposure, softness;
};

}  // namespace

extern "C" void map_sphere(const float *numbers, int width, int height, int threads, float *image,
                           float *tangents) {
    Parameters p;
    std::memcpy(&p, numbers, sizeof p);
    float length = 1.0f / std::sqrt(p.light[0] * p.light[0] + p.light[1] * p.light[1] +
                                    p.light[2] * p.light[2]);
    float lx = p.light[0] * length, ly = p.light[1] * length, lz = p.light[2] * length;
    float half = 1.0f / std::sqrt(2.0f + 2.0f * lz), gain = -std::exp2(p.exposure);

    map({width, height}, threads, image, tangents, [=](Lanes px, float py) {
        Dual radius = {all(p.radius), all(1.0f)};
        Dual x = (px - p.centre[0]) / radius, y = all(py - p.centre[1]) / radius;
        Dual inside = 1.0f - (x * x + y * y);
        Dual z = safe_sqrt(inside, 1e-6f);
        Dual coverage = soft_step(inside * (radius / (2.0f * p.softness)));

        Dual facing = x * lx + y * ly + z * lz;
        Dual lit = p.ambient + p.diffuse * soft_relu(facing, TERMINATOR);
        Dual lobe = p.shininess * ((facing + z) * half - 1.0f);
        Dual highlight = p.specular * exp(at_most(lobe, 0.0f));
        Dual grazing = 1.0f - z, rim = grazing * grazing;

        Dual stir = sin((0.3f * p.frequency) * (x + 0.6f * z));
        Dual wave = sin(p.frequency * (y + 0.12f * x) + 1.6f * stir);
        Dual bands = 1.0f - p.contrast * (0.5f - 0.5f * wave);
        Lanes glow = exp(-0.9f * (px * px + py * py));

        Shaded out;
        for (int i = 0; i < 3; ++i) {
            Dual paint = bands * (p.albedo[i] - BAND[i]) + BAND[i];
            Dual surface = lit * paint + (highlight + rim * RIM[i]);
            Lanes background = glow * (GLOW[i] - EDGE[i]) + EDGE[i];
            Dual channel = background + coverage * ((1.0f - background) - exp(surface * gain));
            out.value[i] = channel.v;
            out.tangent[i] = channel.d;
        }
        return out;
    });
}
