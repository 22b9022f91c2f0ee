// Nothing computed: the bytes of an image and a map are written, and that is all.

#include <cstddef>
#include <cstring>

extern "C" void write_bytes(char *image, char *tangents, std::size_t bytes, int threads) {
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int part = 0; part < threads; ++part) {
        std::size_t from = bytes / threads * part;
        std::size_t to = part + 1 == threads ? bytes : bytes / threads * (part + 1);
        std::memset(image + from, 1, to - from);
        std::memset(tangents + from, 1, to - from);
    }
}
