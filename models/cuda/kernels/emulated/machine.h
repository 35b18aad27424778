// The machine of `../machine.h` on a CPU. The threads of a block are fibers that run in turns: one runs until a barrier
// or an instruction of its warp, and goes on when the others have come there.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>
#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

#define DEVICE inline
#define KERNEL extern "C" void
#define UNROLL
#define ROLLED
#define __launch_bounds__(threads)

struct alignas(8) Words2 { u32 x, y; };
struct alignas(16) Words4 { u32 x, y, z, w; };

namespace emulated {

[[noreturn]] inline void fail(const char* what) {
    fprintf(stderr, "emulated kernel: %s\n", what);
    abort();
}

// Memory that ends where the next page may not be touched, filled with what is no number.
struct Guarded {
    char *begin = nullptr, *mapped = nullptr;
    size_t whole = 0;
    explicit Guarded(size_t bytes) {
        const size_t page = sysconf(_SC_PAGESIZE), used = (bytes + page - 1) / page * page;
        whole = used + page;
        mapped = (char*)mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (mapped == MAP_FAILED) fail("out of memory");
        memset(mapped, 0xff, used);
        mprotect(mapped + used, page, PROT_NONE);
        begin = mapped + (used - (bytes + 15) / 16 * 16);
    }
    Guarded(const Guarded&) = delete;
    ~Guarded() { munmap(mapped, whole); }
};

struct Warp {
    int arrived = 0, generation = 0;
    const char* instruction = nullptr;
    u64 in[32][8];
    u64 out[32][4];
};

struct Fiber {
    ucontext_t context;
    jmp_buf place;
    bool begun = false;
    std::unique_ptr<char[]> stack;
    bool done = false;
};

const int STACK = 256 << 10;

struct Block {
    int threads, x, y, blocks_x;
    char* memory;
    std::vector<Fiber> fibers;
    std::vector<Warp> warps;
    int current = 0, waiting = 0, live = 0, generation = 0;
    ucontext_t main;
    jmp_buf place;
    std::function<void()> body;
};

inline thread_local Block* block;

// A fiber begins by a change of context and goes on by jumps, which do without the system.
inline void pause() {
    if (_setjmp(block->fibers[block->current].place) == 0) _longjmp(block->place, 1);
}

inline void go_on(Block& own, Fiber& fiber) {
    if (_setjmp(own.place) != 0) return;
    if (fiber.begun) _longjmp(fiber.place, 1);
    fiber.begun = true;
    setcontext(&fiber.context);
}

inline void start() {
    block->body();
    block->fibers[block->current].done = true;
    pause();
}

// Runs one block's threads, in ascending or descending order: kernels that forget a barrier give other results.
inline void run(Block& own, bool descending) {
    block = &own;
    own.warps.assign((own.threads + 31) / 32, Warp());
    own.fibers.resize(own.threads);
    own.live = own.threads, own.waiting = 0, own.generation = 0;
    for (auto& fiber : own.fibers) {
        if (!fiber.stack) fiber.stack.reset(new char[STACK]);
        getcontext(&fiber.context);
        fiber.context.uc_stack.ss_sp = fiber.stack.get();
        fiber.context.uc_stack.ss_size = STACK;
        fiber.context.uc_link = &own.main;
        fiber.done = fiber.begun = false;
        makecontext(&fiber.context, (void (*)())start, 0);
    }
    while (own.live > 0) {
        for (int at = 0; at < own.threads; at++) {
            const int next = descending ? own.threads - 1 - at : at;
            if (own.fibers[next].done) continue;
            own.current = next;
            go_on(own, own.fibers[next]);
            if (own.fibers[next].done && --own.live > 0 && own.waiting == own.live) own.waiting = 0, own.generation++;
        }
    }
}

// An instruction that a whole warp makes together: the last lane that comes computes for all of them.
template <class Compute> inline void together(const char* instruction, Compute compute) {
    Warp& warp = block->warps[block->current / 32];
    if (warp.arrived > 0 && warp.instruction != instruction) fail("lanes of a warp make different instructions");
    warp.instruction = instruction;
    if (++warp.arrived == 32) {
        compute(warp);
        warp.arrived = 0, warp.generation++;
        return;
    }
    for (const int generation = warp.generation; warp.generation == generation;) pause();
}

inline float number(u32 bits) {
    float value;
    memcpy(&value, &bits, 4);
    return value;
}
inline u32 bits(float value) {
    u32 bits;
    memcpy(&bits, &value, 4);
    return bits;
}

}  // namespace emulated

inline float as_float(u32 bits) { return emulated::number(bits); }
inline int thread() { return emulated::block->current; }
inline int threads() { return emulated::block->threads; }
inline int block_x() { return emulated::block->x; }
inline int block_y() { return emulated::block->y; }
inline int blocks_x() { return emulated::block->blocks_x; }
inline char* shared() { return emulated::block->memory; }

inline void barrier() {
    auto* block = emulated::block;
    if (++block->waiting == block->live) {
        block->waiting = 0, block->generation++;
        return;
    }
    for (const int generation = block->generation; block->generation == generation;) emulated::pause();
}

inline float shuffle_xor(float value, int mask) {
    const int lane = emulated::block->current % 32;
    auto& warp = emulated::block->warps[emulated::block->current / 32];
    warp.in[lane][0] = emulated::bits(value);
    warp.in[lane][1] = mask;
    emulated::together("shuffle", [](emulated::Warp& warp) {
        for (int lane = 0; lane < 32; lane++) warp.out[lane][0] = warp.in[lane ^ (int)warp.in[lane][1]][0];
    });
    return emulated::number((u32)warp.out[lane][0]);
}

inline void load(u32 (&to)[4], const void* row, bool transposed) {
    const int lane = emulated::block->current % 32;
    auto& warp = emulated::block->warps[emulated::block->current / 32];
    if ((uintptr_t)row % 16 != 0) emulated::fail("the address of a matrix is not a multiple of 16");
    warp.in[lane][0] = (u64)(uintptr_t)row;
    emulated::together(transposed ? "load transposed" : "load", [transposed](emulated::Warp& warp) {
        for (int lane = 0; lane < 32; lane++) {
            for (int matrix = 0; matrix < 4; matrix++) {
                u32 pair = 0;
                for (int one = 0; one < 2; one++) {
                    int row = lane / 4, column = lane % 4 * 2 + one;
                    if (transposed) std::swap(row, column);
                    pair |= (u32)((const u16*)(uintptr_t)warp.in[matrix * 8 + row][0])[column] << (16 * one);
                }
                warp.out[lane][matrix] = pair;
            }
        }
    });
    for (int at = 0; at < 4; at++) to[at] = (u32)warp.out[lane][at];
}
inline void load_matrices(u32 (&to)[4], const void* row) { load(to, row, false); }
inline void load_transposed(u32 (&to)[4], const void* row) { load(to, row, true); }

template <class Half> inline void multiply_matrices(float (&sums)[4], const u32 (&a)[4], u32 b0, u32 b1) {
    const int lane = emulated::block->current % 32;
    auto& warp = emulated::block->warps[emulated::block->current / 32];
    for (int at = 0; at < 4; at++) warp.in[lane][at] = (u64)emulated::bits(sums[at]) << 32 | a[at];
    warp.in[lane][4] = (u64)b1 << 32 | b0;
    emulated::together("multiply", [](emulated::Warp& warp) {
        float left[16][16], right[16][8];
        for (int lane = 0; lane < 32; lane++) {
            const int group = lane / 4, pair = lane % 4 * 2;
            for (int one = 0; one < 2; one++) {
                for (int at = 0; at < 4; at++) {
                    const u16 half = (u16)(warp.in[lane][at] >> (16 * one));
                    left[group + at % 2 * 8][pair + one + at / 2 * 8] = Half::up(half);
                }
                for (int at = 0; at < 2; at++) {
                    right[pair + one + 8 * at][group] = Half::up((u16)(warp.in[lane][4] >> (32 * at + 16 * one)));
                }
            }
        }
        for (int lane = 0; lane < 32; lane++) {
            for (int at = 0; at < 4; at++) {
                const int row = lane / 4 + at / 2 * 8, column = lane % 4 * 2 + at % 2;
                float sum = emulated::number((u32)(warp.in[lane][at] >> 32));
                for (int k = 0; k < 16; k++) sum += left[row][k] * right[k][column];
                warp.out[lane][at] = emulated::bits(sum);
            }
        }
    });
    for (int at = 0; at < 4; at++) sums[at] = emulated::number((u32)warp.out[lane][at]);
}

// A 16-bit number with `EXPONENT` bits of exponent and the rest of mantissa, rounded to the nearest. What is too large
// becomes the largest number where the exponent is short.
template <int EXPONENT> struct Sixteen {
    static const int MANTISSA = 15 - EXPONENT, BIAS = (1 << (EXPONENT - 1)) - 1;

    static float up(u16 half) {
        static const std::vector<float> all = [] {
            std::vector<float> all(1 << 16);
            for (int half = 0; half < 1 << 16; half++) all[half] = number(half);
            return all;
        }();
        return all[half];
    }

    static float number(int half) {
        const int exponent = half >> MANTISSA & ((1 << EXPONENT) - 1), mantissa = half & ((1 << MANTISSA) - 1);
        const float sign = half & 0x8000 ? -1.0f : 1.0f;
        if (exponent == (1 << EXPONENT) - 1) return mantissa ? NAN : sign * INFINITY;
        if (exponent == 0) return sign * std::ldexp((float)mantissa, 1 - BIAS - MANTISSA);
        return sign * std::ldexp((float)(mantissa + (1 << MANTISSA)), exponent - BIAS - MANTISSA);
    }

    static u16 down(float value) {
        if (std::isnan(value)) return 0x7fff;
        const u16 sign = std::signbit(value) ? 0x8000 : 0, infinite = ((1 << EXPONENT) - 1) << MANTISSA;
        if (value == 0.0f) return sign;
        int exponent;
        std::frexp(value, &exponent);  // the value is below 2^exponent
        exponent = exponent - 1 < 1 - BIAS ? 1 - BIAS : exponent - 1;
        // In units of the last place; where that reaches the next exponent it is right all the same.
        const double units = std::nearbyint(std::ldexp((double)std::fabs(value), MANTISSA - exponent));
        const double whole = units + (double)((exponent + BIAS - 1) << MANTISSA);
        if (std::isinf(value) || whole >= infinite) return sign | (EXPONENT < 8 ? infinite - 1 : infinite);
        return sign | (u16)whole;
    }

    static void multiply(float (&sums)[4], const u32 (&a)[4], u32 b0, u32 b1) {
        multiply_matrices<Sixteen>(sums, a, b0, b1);
    }
};

typedef Sixteen<5> F16;
// Tests compile it a second time with more mantissa: what is then nearer was rounding, and nothing else.
#ifndef TRAINING_EXPONENT
#define TRAINING_EXPONENT 8
#endif
typedef Sixteen<TRAINING_EXPONENT> Bf16;
