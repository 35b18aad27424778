// What the kernels need of a machine: threads, shared memory, barriers, 16-bit numbers and the matrix instruction.
// Here for NVIDIA cards from compute capability 8.0 on; `emulated/machine.h` has the same for a CPU.
#pragma once

#ifdef EMULATED
#include "emulated/machine.h"
#else

typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

#define DEVICE __device__ __forceinline__
#define KERNEL extern "C" __global__ void
#define UNROLL _Pragma("unroll")
#define ROLLED _Pragma("unroll 1")

// A pair and a quadruple of words, moved by one instruction.
struct __align__(8) Words2 { u32 x, y; };
struct __align__(16) Words4 { u32 x, y, z, w; };

DEVICE int thread() { return threadIdx.x; }
DEVICE int threads() { return blockDim.x; }
DEVICE int block_x() { return blockIdx.x; }
DEVICE int block_y() { return blockIdx.y; }
DEVICE int blocks_x() { return gridDim.x; }
DEVICE void barrier() { __syncthreads(); }

// The block's dynamic shared memory.
DEVICE char* shared() {
    extern __shared__ __align__(16) char memory[];
    return memory;
}

DEVICE float shuffle_xor(float value, int mask) { return __shfl_xor_sync(0xffffffffu, value, mask); }

// Four 8x8 matrices of 16-bit numbers; lane l gives the address of row l % 8 of matrix l / 8.
DEVICE void load_matrices(u32 (&to)[4], const void* row) {
    u32 address = (u32)__cvta_generic_to_shared(row);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(address) : "memory");
}

// The same, each matrix transposed.
DEVICE void load_transposed(u32 (&to)[4], const void* row) {
    u32 address = (u32)__cvta_generic_to_shared(row);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(address) : "memory");
}

DEVICE float as_float(u32 bits) { return __uint_as_float(bits); }

// Half precision: eleven bits of mantissa, up to 65504.
struct F16 {
    static DEVICE float up(u16 bits) {
        float value;
        asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
        return value;
    }

    // What is too large becomes the largest number; what is no number stays none.
    static DEVICE u16 down(float value) {
        value = value > 65504.0f ? 65504.0f : value < -65504.0f ? -65504.0f : value;
        u16 bits;
        asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
        return bits;
    }

    // sums [16, 8] += a [16, 16] b [16, 8].
    static DEVICE void multiply(float (&sums)[4], const u32 (&a)[4], u32 b0, u32 b1) {
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
                     "{%8, %9}, {%0, %1, %2, %3};"
                     : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    }
};

// bfloat16: eight bits of mantissa and the range of single precision, which gradients need.
struct Bf16 {
    static DEVICE float up(u16 bits) { return __uint_as_float((u32)bits << 16); }

    static DEVICE u16 down(float value) {
        u16 bits;
        asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
        return bits;
    }

    static DEVICE void multiply(float (&sums)[4], const u32 (&a)[4], u32 b0, u32 b1) {
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
                     "{%8, %9}, {%0, %1, %2, %3};"
                     : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    }
};

#endif

#define INFINITE as_float(0x7f800000u)

DEVICE int lane() { return thread() % 32; }
DEVICE int warp() { return thread() / 32; }
DEVICE int smaller(int a, int b) { return a < b ? a : b; }
DEVICE float larger(float a, float b) { return a > b ? a : b; }
// What is no number stays none.
DEVICE float rectified(float value) { return value < 0.0f ? 0.0f : value; }

// The sum and the maximum over the 32 lanes of a warp, in every lane, always in the same order.
DEVICE float warp_sum(float value) {
    for (int mask = 16; mask > 0; mask /= 2) value += shuffle_xor(value, mask);
    return value;
}
DEVICE float warp_max(float value) {
    for (int mask = 16; mask > 0; mask /= 2) value = larger(value, shuffle_xor(value, mask));
    return value;
}

// The sum and the maximum over a block's threads, in every thread; `scratch` has a float for each warp.
DEVICE float block_sum(float value, float* scratch) {
    value = warp_sum(value);
    barrier();
    if (lane() == 0) scratch[warp()] = value;
    barrier();
    float sum = 0.0f;
    for (int other = 0; other < threads() / 32; other++) sum += scratch[other];
    return sum;
}
DEVICE float block_max(float value, float* scratch) {
    value = warp_max(value);
    barrier();
    if (lane() == 0) scratch[warp()] = value;
    barrier();
    float most = scratch[0];
    for (int other = 1; other < threads() / 32; other++) most = larger(most, scratch[other]);
    return most;
}
