// The heads of the side to move, after the 1x1 convolutions of both roles. A block of 4 warps does a board.
//
// The convolutions have made x [boards * squares, width]: for each role `units` channels each of the policy's hidden
// layer before its bias, of the destinations and of the value, then four of the occupancy.
#pragma once
#include "machine.h"

const int POLICY_ROWS = 72, GLOBALS = 48;

// The weights of the heads after the convolutions, both roles one behind the other: policy_out [2, 72, units] and
// [2, 72]; value_hidden [2, 3 units, hidden] and [2, hidden]; value_out [2, hidden, 4] and [2, 4]. They lie one after
// the other, and so do their gradients.
template <class Float> struct HeadWeights {
    Float *policy_out, *policy_bias, *value_hidden, *value_hidden_bias, *value_out, *value_out_bias;
    DEVICE HeadWeights(Float* all, int units, int hidden) {
        policy_out = all;
        policy_bias = policy_out + 2 * POLICY_ROWS * units;
        value_hidden = policy_bias + 2 * POLICY_ROWS;
        value_hidden_bias = value_hidden + 2 * 3 * units * hidden;
        value_out = value_hidden_bias + 2 * hidden;
        value_out_bias = value_out + 2 * hidden * 4;
    }
};
typedef HeadWeights<const float> Weights;

// A move in a word: its row of the policy, its origin and its destination.
DEVICE int row_of(u32 move) { return move & 0xff; }
DEVICE int origin_of(u32 move) { return move >> 8 & 0xfff; }
DEVICE int destination_of(u32 move) { return move >> 20; }

struct Head {
    const u16* x;              // of this board
    const float* pooled_bias;  // [units], of the board's role
    int squares, width, units, role;

    template <class Half> DEVICE float value(int square, int part, int unit) const {
        return Half::up(x[(u64)square * width + (3 * role + part) * units + unit]);
    }
    template <class Half> DEVICE float origin(int square, int unit) const {
        return rectified(value<Half>(square, 0, unit) + pooled_bias[unit]);
    }
    template <class Half> DEVICE float destination(int square, int unit) const {
        return value<Half>(square, 1, unit);
    }
    template <class Half> DEVICE float value_unit(int square, int unit) const {
        return rectified(value<Half>(square, 2, unit));
    }
};

// The head of this block's board.
DEVICE Head head_of(const u16* x, const float* pooled_bias, const float* globals, int squares, int width, int units) {
    const int board = block_x(), role = globals[(u64)board * GLOBALS] >= 0.5f ? 0 : 1;
    return Head{x + (u64)board * squares * width, pooled_bias + ((u64)board * 2 + role) * units, squares, width, units,
                role};
}

// Logits of the moves `begin` to `end` of this board.
template <class Half>
DEVICE void policy_logits(const Head& head, const Weights& weights, const u32* moves, int begin, int end,
                          float* logits) {
    ROLLED for (int at = begin + warp(); at < end; at += threads() / 32) {
        const int row = row_of(moves[at]), from = origin_of(moves[at]), to = destination_of(moves[at]);
        const float* w = weights.policy_out + (u64)(head.role * POLICY_ROWS + row) * head.units;
        float sum = 0.0f;
        ROLLED for (int unit = lane(); unit < head.units; unit += 32) {
            sum += head.origin<Half>(from, unit) * (w[unit] + head.destination<Half>(to, unit));
        }
        sum = warp_sum(sum);
        if (lane() == 0) logits[at] = sum + weights.policy_bias[head.role * POLICY_ROWS + row];
    }
    barrier();
}

// Pools the value's units to `pooled` [3 units], then its hidden layer to `hidden` and the four numbers to `out`; all
// in shared memory.
template <class Half>
DEVICE void value_head(const Head& head, const Weights& weights, float scale, int hidden_units, float* pooled,
                       float* hidden, float* out) {
    const int units = head.units;
    ROLLED for (int unit = warp(); unit < units; unit += threads() / 32) {
        float sum = 0.0f, most = 0.0f;
        ROLLED for (int square = lane(); square < head.squares; square += 32) {
            float value = head.value_unit<Half>(square, unit);
            sum += value;
            most = larger(most, value);
        }
        sum = warp_sum(sum);
        most = warp_max(most);
        if (lane() == 0) {
            pooled[unit] = sum / head.squares;
            pooled[units + unit] = sum / head.squares * scale;
            pooled[2 * units + unit] = most;
        }
    }
    barrier();
    ROLLED for (int unit = thread(); unit < hidden_units; unit += threads()) {
        const float* w = weights.value_hidden + (u64)head.role * 3 * units * hidden_units + unit;
        float sum = weights.value_hidden_bias[head.role * hidden_units + unit];
        ROLLED for (int from = 0; from < 3 * units; from++) sum += pooled[from] * w[(u64)from * hidden_units];
        hidden[unit] = rectified(sum);
    }
    barrier();
    if (thread() < 4) {
        float sum = weights.value_out_bias[head.role * 4 + thread()];
        ROLLED for (int from = 0; from < hidden_units; from++) {
            sum += hidden[from] * weights.value_out[((u64)head.role * hidden_units + from) * 4 + thread()];
        }
        out[thread()] = sum;
    }
    barrier();
}

// Softmax of logits [begin, end) in place, by the whole block.
DEVICE void softmax(float* logits, int begin, int end, float* scratch) {
    float most = -INFINITE, sum = 0.0f;
    ROLLED for (int at = begin + thread(); at < end; at += threads()) most = larger(most, logits[at]);
    most = block_max(most, scratch);
    ROLLED for (int at = begin + thread(); at < end; at += threads()) sum += expf(logits[at] - most);
    sum = block_sum(sum, scratch);
    ROLLED for (int at = begin + thread(); at < end; at += threads()) logits[at] = expf(logits[at] - most) / sum;
    barrier();
}

// Answers a board: priors of its moves, moves [first_move[board], first_move[board + 1]); the three logits of the
// result and ln(1 + plies left); where `occupancy` is not missing, the chances of each square's final content.
template <class Half>
DEVICE void answer(const u16* x, const float* pooled_bias, const float* globals, const float* weights,
                   const u32* moves, const u32* first_move, float* priors, float* value, float* occupancy, int side,
                   int width, int units, int hidden_units) {
    const int board = block_x(), squares = side * side;
    const Head head = head_of(x, pooled_bias, globals, squares, width, units);
    float *scratch = (float*)shared(), *pooled = scratch + 32, *hidden = pooled + 3 * units;
    const int begin = first_move[board], end = first_move[board + 1];
    const Weights heads(weights, units, hidden_units);
    policy_logits<Half>(head, heads, moves, begin, end, priors);
    softmax(priors, begin, end, scratch);
    value_head<Half>(head, heads, (side - 9) * 0.5f, hidden_units, pooled, hidden, scratch);
    if (thread() < 4) value[(u64)board * 4 + thread()] = scratch[thread()];
    if (!occupancy) return;
    ROLLED for (int square = thread(); square < squares; square += threads()) {
        float chances[4], most = -INFINITE, sum = 0.0f;
        UNROLL for (int kind = 0; kind < 4; kind++) {
            chances[kind] = Half::up(head.x[(u64)square * width + 6 * units + kind]);
            most = larger(most, chances[kind]);
        }
        UNROLL for (int kind = 0; kind < 4; kind++) sum += chances[kind] = expf(chances[kind] - most);
        float* to = occupancy + ((u64)board * squares + square) * 4;
        UNROLL for (int kind = 0; kind < 4; kind++) to[kind] = chances[kind] / sum;
    }
}
