// Layers that see a whole board: pooling, and linear layers on vectors.
#pragma once
#include "machine.h"

// Mean, mean times `scale` and maximum over a board's squares: x [boards * squares, channels] to out
// [boards, 3, channels]. A block of 8 warps does 32 channels of a board.
template <class Half> DEVICE void pool(const u16* x, float* out, int squares, int channels, float scale) {
    float* partial = (float*)shared();
    const int board = block_x(), channel = block_y() * 32 + lane();
    const u16* own = x + (u64)board * squares * channels + channel;
    float sum = 0.0f, most = Half::up(own[0]);
    for (int square = warp(); square < squares; square += 8) {
        float value = Half::up(own[(u64)square * channels]);
        sum += value;
        most = larger(most, value);
    }
    partial[warp() * 64 + lane()] = sum;
    partial[warp() * 64 + 32 + lane()] = most;
    barrier();
    if (warp() != 0) return;
    for (int other = 1; other < 8; other++) {
        sum += partial[other * 64 + lane()];
        most = larger(most, partial[other * 64 + 32 + lane()]);
    }
    float* to = out + (u64)board * 3 * channels + channel;
    to[0] = sum / squares;
    to[channels] = sum / squares * scale;
    to[2 * channels] = most;
}

// out [boards, outputs] = in [boards, inputs] weights [inputs, outputs] + bias; the bias may be missing. A block does a
// board.
DEVICE void linear(const float* in, const float* weights, const float* bias, float* out, int inputs, int outputs) {
    float* row = (float*)shared();
    for (int at = thread(); at < inputs; at += threads()) row[at] = in[(u64)block_x() * inputs + at];
    barrier();
    for (int to = thread(); to < outputs; to += threads()) {
        float sum = bias ? bias[to] : 0.0f;
        for (int from = 0; from < inputs; from++) sum += row[from] * weights[(u64)from * outputs + to];
        out[(u64)block_x() * outputs + to] = sum;
    }
}
