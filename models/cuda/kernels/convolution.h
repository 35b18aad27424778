// Convolutions of 3x3 and 1x1 on the tensor cores.
//
// Activations are [boards * squares, channels], channels last, in 16 bits; a *row* is a square of a board. A block
// makes 128 rows and 32 N columns, each of its 8 warps 16 N rows and 32 columns. The rows that it reads lie in shared
// memory once, line by line with a zero before each line and a line of zeros before and behind each board, so that each
// of the nine taps is the same rows at another offset. Weights come in the order in which lanes multiply by them,
// straight from the cache that all blocks share.
#pragma once
#include "machine.h"

const int BLOCK_ROWS = 128;

// Where a row lies among the lines with their zeros.
DEVICE int place(int row, int side) {
    int squares = side * side, board = row / squares, square = row % squares;
    return (board * (side + 1) + 1 + square / side) * (side + 1) + 1 + square % side;
}

// The row at a place, -1 where the zeros are.
DEVICE int row_at(int place, int side, int rows) {
    int width = side + 1, file = place % width - 1, line = place / width - 1;
    if (file < 0 || line < 0 || line % width == side) return -1;
    int row = (line / width * side + line % width) * side + file;
    return row < rows ? row : -1;
}

// Eight channels of a square whose planes are the bits of a word.
template <class Half> DEVICE Words4 planes(u32 bits) {
    u32 one = Half::down(1.0f);
    u32 words[4];
    UNROLL for (int at = 0; at < 4; at++) {
        words[at] = ((bits >> (2 * at)) & 1 ? one : 0) | ((bits >> (2 * at + 1)) & 1 ? one << 16 : 0);
    }
    return Words4{words[0], words[1], words[2], words[3]};
}

// Copies `count` places from `base` on, channels `from` to `from + channels`, to shared memory.
template <class Half>
DEVICE void load_places(u16* tile, const void* x, int bits, int base, int count, int side, int rows, int cin, int from,
                        int channels, int pitch) {
    int parts = channels / 8;
    ROLLED for (int at = thread(); at < count * parts; at += threads()) {
        int part = at % parts, row = row_at(base + at / parts, side, rows);
        Words4 words = {0, 0, 0, 0};
        if (row >= 0 && bits) words = planes<Half>(((const u32*)x)[row] >> (8 * part));
        else if (row >= 0) words = *(const Words4*)((const u16*)x + (u64)row * cin + from + 8 * part);
        *(Words4*)(tile + at / parts * pitch + 8 * part) = words;
    }
}

// out = [relu](x * weights + bias + skip); the skip connection may be missing.
//
// x        [rows, cin], or with `bits` a word a row whose 32 bits are the channels
// weights  [cout / 8][cin / chunk][taps][chunk / 16][32 lanes][4], chunk 64 where cin is a multiple of it, else 32:
//          for lane l the inputs 2 (l % 4) + {0, 1, 8, 9} of the 16 and the output l / 4 of the 8
// bias     [cout] where `bias_step` is 0; [boards, cout] where it is cout
// skip and out [rows, cout]
template <class Half, int N>
DEVICE void convolution(const void* x, int bits, const Words2* weights, const float* bias, int bias_step,
                        const u16* skip, u16* out, int rows, int side, int cin, int cout, int taps, int relu) {
    const int chunk = cin % 64 == 0 ? 64 : 32, pitch = chunk + 8, width = side + 1;
    u16* tile = (u16*)shared();
    const int first = block_x() * BLOCK_ROWS, last = smaller(first + BLOCK_ROWS, rows) - 1;
    const int reach = taps == 9 ? width + 1 : 0;
    const int base = place(first, side) - reach, count = place(last, side) + reach - base + 1;
    const int row = first + warp() / N * 16 * N, column = (block_y() * N + warp() % N) * 32;

    const u16* a[N];
    UNROLL for (int m = 0; m < N; m++) {
        int own = row + 16 * m + lane() % 16;
        a[m] = tile + (place(own <= last ? own : first, side) - base) * pitch + lane() / 16 * 8;
    }
    const int steps = taps * (cin / 16);
    const Words2* w = weights + (u64)(column / 8) * steps * 32 + lane();
    float sums[N][4][4];
    UNROLL for (int m = 0; m < N; m++)
        UNROLL for (int n = 0; n < 4; n++)
            UNROLL for (int at = 0; at < 4; at++) sums[m][n][at] = 0.0f;

    ROLLED for (int from = 0; from < cin; from += chunk) {
        barrier();
        load_places<Half>(tile, x, bits, base, count, side, rows, cin, from, chunk, pitch);
        barrier();
        ROLLED for (int tap = 0; tap < taps; tap++) {
            const int offset = taps == 9 ? ((tap / 3 - 1) * width + tap % 3 - 1) * pitch : 0;
            UNROLL for (int k = 0; k < 64; k += 16) {
                if (k >= chunk) break;
                Words2 b[4];
                UNROLL for (int n = 0; n < 4; n++) b[n] = w[n * steps * 32];
                w += 32;
                UNROLL for (int m = 0; m < N; m++) {
                    u32 fragment[4];
                    load_matrices(fragment, a[m] + offset + k);
                    UNROLL for (int n = 0; n < 4; n++) Half::multiply(sums[m][n], fragment, b[n].x, b[n].y);
                }
            }
        }
    }

    const float least = relu ? 0.0f : -INFINITE;
    UNROLL for (int m = 0; m < N; m++) {
        UNROLL for (int half = 0; half < 2; half++) {
            const int own = row + 16 * m + 8 * half + lane() / 4;
            if (own > last) continue;
            const Words2* own_bias = (const Words2*)(bias + (u64)(own / (side * side)) * bias_step + column);
            UNROLL for (int n = 0; n < 4; n++) {
                const int pair = 4 * n + lane() % 4;
                const u64 at = ((u64)own * cout + column) / 2 + pair;
                const u32 skipped = skip ? ((const u32*)skip)[at] : 0;
                const Words2 biases = own_bias[pair];
                float low = sums[m][n][2 * half] + as_float(biases.x) + Half::up((u16)skipped);
                float high = sums[m][n][2 * half + 1] + as_float(biases.y) + Half::up((u16)(skipped >> 16));
                low = low < least ? least : low;
                high = high < least ? least : high;
                ((u32*)out)[at] = Half::down(low) | (u32)Half::down(high) << 16;
            }
        }
    }
}

// Weights [cout, cin, taps] in the order of `convolution`. With a `scale` [cout] each output's are multiplied by it;
// `turned` makes the weights of the convolution that goes back, from cout to cin channels.
template <class Half>
DEVICE void pack(const float* weights, const float* scale, u16* out, int cin, int cout, int taps, int turned) {
    const int from_count = turned ? cout : cin;
    const int chunk = from_count % 64 == 0 ? 64 : 32, total = cin * cout * taps;
    ROLLED for (int at = block_x() * threads() + thread(); at < total; at += blocks_x() * threads()) {
        const int one = at % 4, l = at / 4 % 32, step = at / 128 % (taps * (from_count / 16));
        const int k16 = step % (chunk / 16), tap = step / (chunk / 16) % taps, part = step / (chunk / 16) / taps;
        const int from = part * chunk + k16 * 16 + l % 4 * 2 + one % 2 + one / 2 * 8;
        const int to = at / 128 / (taps * (from_count / 16)) * 8 + l / 4;
        const int source = turned ? (from * cin + to) * taps + taps - 1 - tap : (to * cin + from) * taps + tap;
        out[at] = Half::down(weights[source] * (scale ? scale[to] : 1.0f));
    }
}

#define CONVOLUTION(name, Half, N)                                                                                  \
    KERNEL __launch_bounds__(256) name(const void* x, int bits, const Words2* weights, const float* bias,           \
                                       int bias_step, const u16* skip, u16* out, int rows, int side, int cin,       \
                                       int cout, int taps, int relu) {                                              \
        convolution<Half, N>(x, bits, weights, bias, bias_step, skip, out, rows, side, cin, cout, taps, relu);      \
    }
