// What training needs beside the passes forward: batch renormalisation, gradients, losses.
//
// Sums over a batch are made in parts by blocks that each have some of the boards, and the parts are added in their
// order, so that a step gives the same bits again.
#pragma once
#include "convolution.h"
#include "heads.h"

// The boards of part `part` of `parts`.
DEVICE int first_of(int part, int parts, int boards) { return (int)((long long)part * boards / parts); }

// Adds up what the 8 warps have for 32 channels each, twice, and writes it: out [parts, 2, channels].
DEVICE void write_part(float first, float second, float* out, int channels) {
    float* partial = (float*)shared();
    partial[warp() * 64 + lane()] = first;
    partial[warp() * 64 + 32 + lane()] = second;
    barrier();
    if (warp() != 0) return;
    for (int other = 1; other < 8; other++) {
        first += partial[other * 64 + lane()];
        second += partial[other * 64 + 32 + lane()];
    }
    float* to = out + (u64)block_y() * 2 * channels + block_x() * 32 + lane();
    to[0] = first;
    to[channels] = second;
}

// Sums of z and of its squares over the rows, in parts.
template <class Half>
DEVICE void moments(const u16* z, float* out, int boards, int squares, int channels, int parts) {
    const int channel = block_x() * 32 + lane(), end = first_of(block_y() + 1, parts, boards);
    float sum = 0.0f, squared = 0.0f;
    for (int board = first_of(block_y(), parts, boards) + warp(); board < end; board += 8) {
        for (int square = 0; square < squares; square++) {
            float value = Half::up(z[((u64)board * squares + square) * channels + channel]);
            sum += value;
            squared += value * value;
        }
    }
    write_part(sum, squared, out, channels);
}

// A layer's normalisation, six numbers a channel: activations are relu(z scale + shift + ...), with the batch's mean
// and 1 / deviation, and the ratio and offset of batch renormalisation.
struct Norm {
    float *scale, *shift, *mean, *inverse, *ratio, *offset;
    DEVICE Norm(float* all, int channels) {
        scale = all, shift = all + channels, mean = all + 2 * channels, inverse = all + 3 * channels;
        ratio = all + 4 * channels, offset = all + 5 * channels;
    }
};

DEVICE double clamped(double value, double least, double most) {
    return value < least ? least : value > most ? most : value;
}

// From the parts of `moments` to a layer's normalisation, and to the batch's statistics [2, channels].
// `running` is [2, channels]: mean and variance.
DEVICE void normalisation(const float* partial, int parts, double count, const float* gamma, const float* beta,
                          const float* running, double epsilon, double most_ratio, double most_offset, float* norm,
                          float* statistics, int channels) {
    const int channel = block_x() * threads() + thread();
    if (channel >= channels) return;
    double sum = 0.0, squared = 0.0;
    for (int part = 0; part < parts; part++) {
        sum += partial[(u64)part * 2 * channels + channel];
        squared += partial[((u64)part * 2 + 1) * channels + channel];
    }
    const double mean = sum / count, spread = squared / count - mean * mean, variance = spread > 0.0 ? spread : 0.0;
    const double deviation = sqrt(variance + epsilon), usual = sqrt(running[channels + channel] + epsilon);
    const double ratio = clamped(deviation / usual, 1.0 / most_ratio, most_ratio);
    const double offset = clamped((mean - running[channel]) / usual, -most_offset, most_offset);
    const double scale = gamma[channel] * ratio / deviation;
    const Norm to(norm, channels);
    to.scale[channel] = (float)scale;
    to.shift[channel] = (float)(beta[channel] + gamma[channel] * offset - mean * scale);
    to.mean[channel] = (float)mean;
    to.inverse[channel] = (float)(1.0 / deviation);
    to.ratio[channel] = (float)ratio;
    to.offset[channel] = (float)offset;
    statistics[channel] = (float)mean;
    statistics[channels + channel] = (float)variance;
}

// out = relu(z scale + shift + board_bias + skip); each of the last two may be missing.
template <class Half>
DEVICE void normalise(const u16* z, float* norm, const float* board_bias, const u16* skip, u16* out, int rows,
                      int squares, int channels) {
    const Norm by(norm, channels);
    const int pairs = rows * (channels / 2);
    ROLLED for (int at = block_x() * threads() + thread(); at < pairs; at += blocks_x() * threads()) {
        const int row = at / (channels / 2), channel = at % (channels / 2) * 2;
        const u32 values = ((const u32*)z)[at], skipped = skip ? ((const u32*)skip)[at] : 0;
        u32 pair = 0;
        for (int one = 0; one < 2; one++) {
            float value = Half::up((u16)(values >> (16 * one))) * by.scale[channel + one] + by.shift[channel + one];
            if (board_bias) value += board_bias[(u64)(row / squares) * channels + channel + one];
            if (skip) value += Half::up((u16)(skipped >> (16 * one)));
            pair |= (u32)Half::down(rectified(value)) << (16 * one);
        }
        ((u32*)out)[at] = pair;
    }
}

// Back through a ReLU that gave `out`: sets the gradient to zero where it gave zero. Sums of the gradient and of its
// products with z over the rows go to the parts; sums over each board to `board_sums` [boards, channels], which may be
// missing.
template <class Half>
DEVICE void gate(u16* gradient, const u16* out, const u16* z, float* partial, float* board_sums, int boards,
                 int squares, int channels, int parts) {
    const int channel = block_x() * 32 + lane(), end = first_of(block_y() + 1, parts, boards);
    float sum = 0.0f, product = 0.0f;
    for (int board = first_of(block_y(), parts, boards) + warp(); board < end; board += 8) {
        float own = 0.0f;
        for (int square = 0; square < squares; square++) {
            const u64 at = ((u64)board * squares + square) * channels + channel;
            const float value = Half::up(out[at]) > 0.0f ? Half::up(gradient[at]) : 0.0f;
            gradient[at] = Half::down(value);
            own += value;
            product += value * Half::up(z[at]);
        }
        sum += own;
        if (board_sums) board_sums[(u64)board * channels + channel] = own;
    }
    write_part(sum, product, partial, channels);
}

// From the parts of `gate` to the gradients of a layer's scale and shift, and to three numbers a channel: the gradient
// of z is gradient a + z b + c.
DEVICE void normalisation_back(const float* partial, int parts, float count, float* norm, float* gamma_gradient,
                               float* beta_gradient, float* factors, int channels) {
    const int channel = block_x() * threads() + thread();
    if (channel >= channels) return;
    double sum = 0.0, product = 0.0;
    for (int part = 0; part < parts; part++) {
        sum += partial[(u64)part * 2 * channels + channel];
        product += partial[((u64)part * 2 + 1) * channels + channel];
    }
    const Norm by(norm, channels);
    const double mean = by.mean[channel], inverse = by.inverse[channel], scale = by.scale[channel];
    const double along = (product - mean * sum) * inverse;  // the gradient times the normalised values
    gamma_gradient[channel] = (float)(by.ratio[channel] * along + by.offset[channel] * sum);
    beta_gradient[channel] = (float)sum;
    factors[channel] = (float)scale;
    factors[channels + channel] = (float)(-scale * along / count * inverse);
    factors[2 * channels + channel] = (float)(scale / count * (along * inverse * mean - sum));
}

// The gradient of z from the gradient behind the normalisation.
template <class Half>
DEVICE void normalise_back(const u16* gradient, const u16* z, const float* factors, u16* out, int rows, int channels) {
    const int pairs = rows * (channels / 2);
    ROLLED for (int at = block_x() * threads() + thread(); at < pairs; at += blocks_x() * threads()) {
        const int channel = at % (channels / 2) * 2;
        const u32 gradients = ((const u32*)gradient)[at], values = ((const u32*)z)[at];
        u32 pair = 0;
        for (int one = 0; one < 2; one++) {
            const float* factor = factors + channel + one;
            const float value = Half::up((u16)(gradients >> (16 * one))) * factor[0] +
                                Half::up((u16)(values >> (16 * one))) * factor[channels] + factor[2 * channels];
            pair |= (u32)Half::down(value) << (16 * one);
        }
        ((u32*)out)[at] = pair;
    }
}

// Rows that lie in shared memory together while gradients of weights are made.
const int GRADIENT_ROWS = 64;

// Gradients of a convolution's weights, over the rows of a part: partial [parts * groups, taps, cin, cout], from what
// the convolution read, x (as there), and the gradient of what it made. A block has 32 outputs and 16 * `wide` inputs;
// the warps that are left share the rows, `groups` of them.
template <class Half>
DEVICE void weight_gradients(const void* x, int bits, const u16* gradient, float* partial, int rows, int side, int cin,
                             int cout, int taps, int parts, int wide) {
    const int groups = threads() / 32 / wide, group = warp() / wide, input = warp() % wide * 16, width = side + 1;
    const int tiles = cin / (16 * wide), from = block_x() % tiles * 16 * wide, column = block_x() / tiles * 32;
    const int channels = 16 * wide, pitch = channels + 8, gradient_pitch = 40, reach = taps == 9 ? width + 1 : 0;
    u16* outputs = (u16*)shared();
    u16* tile = outputs + GRADIENT_ROWS * gradient_pitch;
    const int blocks = (rows + GRADIENT_ROWS - 1) / GRADIENT_ROWS;
    float sums[9][4][4];
    UNROLL for (int tap = 0; tap < 9; tap++)
        UNROLL for (int n = 0; n < 4; n++)
            UNROLL for (int at = 0; at < 4; at++) sums[tap][n][at] = 0.0f;

    const int end = first_of(block_y() + 1, parts, blocks);
    ROLLED for (int block = first_of(block_y(), parts, blocks); block < end; block++) {
        const int first = block * GRADIENT_ROWS, last = smaller(first + GRADIENT_ROWS, rows) - 1;
        const int base = place(first, side) - reach, count = place(last, side) + reach - base + 1;
        barrier();
        load_places<Half>(tile, x, bits, base, count, side, rows, cin, from, channels, pitch);
        ROLLED for (int at = thread(); at < GRADIENT_ROWS * 4; at += threads()) {
            const int row = first + at / 4;
            Words4 words = {0, 0, 0, 0};
            if (row <= last) words = *(const Words4*)(gradient + (u64)row * cout + column + at % 4 * 8);
            *(Words4*)(outputs + at / 4 * gradient_pitch + at % 4 * 8) = words;
        }
        barrier();
        ROLLED for (int k = 16 * group; k < GRADIENT_ROWS; k += 16 * groups) {
            u32 b[2][4];
            UNROLL for (int pair = 0; pair < 2; pair++) {
                const int row = k + lane() / 8 % 2 * 8 + lane() % 8;
                load_transposed(b[pair], outputs + row * gradient_pitch + 16 * pair + lane() / 16 * 8);
            }
            const int row = first + k + lane() / 16 * 8 + lane() % 8;
            const int own = place(row <= last ? row : first, side) - base;
            const u16* a = tile + own * pitch + input + lane() / 8 % 2 * 8;
            UNROLL for (int tap = 0; tap < 9; tap++) {
                if (tap >= taps) break;
                const int offset = taps == 9 ? ((tap / 3 - 1) * width + tap % 3 - 1) * pitch : 0;
                u32 fragment[4];
                load_transposed(fragment, a + offset);
                UNROLL for (int n = 0; n < 4; n++) {
                    Half::multiply(sums[tap][n], fragment, b[n / 2][n % 2 * 2], b[n / 2][n % 2 * 2 + 1]);
                }
            }
        }
    }

    float* to = partial + (u64)(block_y() * groups + group) * taps * cin * cout;
    UNROLL for (int tap = 0; tap < 9; tap++) {
        if (tap >= taps) break;
        UNROLL for (int n = 0; n < 4; n++)
            UNROLL for (int at = 0; at < 4; at++) {
                const int own = from + input + lane() / 4 + at / 2 * 8;
                to[((u64)tap * cin + own) * cout + column + 8 * n + lane() % 4 * 2 + at % 2] = sums[tap][n][at];
            }
    }
}

// Adds up the parts of `weight_gradients`: out [cout, cin, taps].
DEVICE void add_weight_gradients(const float* partial, float* out, int parts, int cin, int cout, int taps) {
    const int total = taps * cin * cout;
    ROLLED for (int at = block_x() * threads() + thread(); at < total; at += blocks_x() * threads()) {
        float sum = 0.0f;
        for (int part = 0; part < parts; part++) sum += partial[(u64)part * total + at];
        out[((u64)(at % cout) * cin + at / cout % cin) * taps + at / cout / cin] = sum;
    }
}

// Adds up parts [parts, count].
DEVICE void add_parts(const float* partial, float* out, int parts, int count) {
    ROLLED for (int at = block_x() * threads() + thread(); at < count; at += blocks_x() * threads()) {
        float sum = 0.0f;
        for (int part = 0; part < parts; part++) sum += partial[(u64)part * count + at];
        out[at] = sum;
    }
}

// Adds the gradient that pooling brings to the gradient of its input x: of the mean, the scaled mean, and, at the first
// square that has it, the maximum. pooled and pooled_gradient are [boards, 3, channels]. A warp does 32 channels.
template <class Half>
DEVICE void pool_back(const u16* x, const float* pooled, const float* pooled_gradient, u16* gradient, int squares,
                      int channels, float scale) {
    const int channel = block_y() * 32 + lane();
    const u64 board = block_x(), at = board * 3 * channels + channel;
    const float share = (pooled_gradient[at] + pooled_gradient[at + channels] * scale) / squares;
    const float most = pooled[at + 2 * channels];
    float left = pooled_gradient[at + 2 * channels];
    for (int square = 0; square < squares; square++) {
        const u64 own = (board * squares + square) * channels + channel;
        float value = Half::up(gradient[own]) + share;
        if (Half::up(x[own]) == most) value += left, left = 0.0f;
        gradient[own] = Half::down(value);
    }
}

// Back through `linear`: in_gradient [boards, inputs] from gradient [boards, outputs].
DEVICE void linear_back(const float* gradient, const float* weights, float* in_gradient, int inputs, int outputs) {
    float* row = (float*)shared();
    ROLLED for (int at = thread(); at < outputs; at += threads()) row[at] = gradient[(u64)block_x() * outputs + at];
    barrier();
    for (int from = warp(); from < inputs; from += threads() / 32) {
        float sum = 0.0f;
        for (int to = lane(); to < outputs; to += 32) sum += row[to] * weights[(u64)from * outputs + to];
        sum = warp_sum(sum);
        if (lane() == 0) in_gradient[(u64)block_x() * inputs + from] = sum;
    }
}

// Gradients of the weights of `linear`, and behind them of its bias: out [inputs + 1, outputs]. Only boards of `role`
// count, all where it is -1. A block does an input.
DEVICE void linear_gradients(const float* in, const float* gradient, const float* globals, float* out, int boards,
                             int inputs, int outputs, int role) {
    const int from = block_x();
    for (int to = thread(); to < outputs; to += threads()) {
        float sum = 0.0f;
        for (int board = 0; board < boards; board++) {
            const int own = globals[(u64)board * GLOBALS] >= 0.5f ? 0 : 1;
            if (role >= 0 && role != own) continue;
            sum += (from < inputs ? in[(u64)board * inputs + from] : 1.0f) * gradient[(u64)board * outputs + to];
        }
        out[(u64)from * outputs + to] = sum;
    }
}

// What a batch is to be: for each board the chances of its moves (as many as moves), and eight numbers: the weight of
// the policy, win, draw and loss, ln(1 + plies left), the weight of the end, and two of padding; for each square its
// content at the end, 0 to 3.
const int TARGETS = 8;

// The part of a gradient that wakes a unit that is zero (`hnefi_models`' ReLU of the heads).
DEVICE float reviving(float out, float gradient) {
    return out > 0.0f ? gradient : gradient < 0.0f ? 0.1f * gradient : 0.0f;
}

// Losses of a board, losses [boards, 4], and the gradients of their weighted mean over the batch:
// move_gradients        of each move's logit
// gradient              [boards * squares, width], of the convolutions' outputs x
// bias_gradients        [boards, 2, units], of `pooled_bias`
// value_pooled          [boards, 3 units], value_hidden [boards, hidden]: the value head's inputs, and
// hidden_gradients      [boards, hidden], value_gradients [boards, 4]: the gradients behind them
// `part_weights` are four: policy, value, moves left, occupancy.
template <class Half>
DEVICE void losses(const u16* x, const float* pooled_bias, const float* globals, const float* weights,
                   const u32* moves, const u32* first_move, const float* chances, const float* targets,
                   const unsigned char* contents, const float* part_weights, float* losses, float* move_gradients,
                   u16* gradient, float* bias_gradients, float* value_pooled, float* value_hidden,
                   float* hidden_gradients, float* value_gradients, int boards, int side, int width, int units,
                   int hidden_units) {
    const int board = block_x(), squares = side * side;
    const Head head = head_of(x, pooled_bias, globals, squares, width, units);
    const Weights heads(weights, units, hidden_units);
    const float scale = (side - 9) * 0.5f, share = 1.0f / boards, *target = targets + (u64)board * TARGETS;
    float* scratch = (float*)shared();
    float *pooled = scratch + 32, *hidden = pooled + 3 * units, *back = hidden + hidden_units;  // back: [3 units]
    float* last = back + 3 * units;                                                            // [4]
    u16* own_gradient = gradient + (u64)board * squares * width;

    // Policy: the cross-entropy of the chances and the softmax of the logits.
    const int begin = first_move[board], end = first_move[board + 1];
    policy_logits<Half>(head, heads, moves, begin, end, move_gradients);
    float most = -INFINITE, sum = 0.0f, loss = 0.0f, whole = 0.0f;
    ROLLED for (int at = begin + thread(); at < end; at += threads()) most = larger(most, move_gradients[at]);
    most = block_max(most, scratch);
    ROLLED for (int at = begin + thread(); at < end; at += threads()) sum += expf(move_gradients[at] - most);
    const float log_sum = logf(block_sum(sum, scratch));
    ROLLED for (int at = begin + thread(); at < end; at += threads()) {
        loss -= chances[at] * (move_gradients[at] - most - log_sum);
        whole += chances[at];
    }
    loss = block_sum(loss, scratch);
    whole = block_sum(whole, scratch);
    const float policy_share = part_weights[0] * target[0] * share;
    ROLLED for (int at = begin + thread(); at < end; at += threads()) {
        const float chance = expf(move_gradients[at] - most - log_sum);
        move_gradients[at] = policy_share * (whole * chance - chances[at]);
    }
    if (thread() == 0) losses[(u64)board * 4] = loss * target[0];

    // Value and plies left.
    value_head<Half>(head, heads, scale, hidden_units, pooled, hidden, scratch);
    float *pooled_to = value_pooled + (u64)board * 3 * units, *hidden_to = value_hidden + (u64)board * hidden_units;
    ROLLED for (int at = thread(); at < 3 * units; at += threads()) pooled_to[at] = pooled[at];
    ROLLED for (int at = thread(); at < hidden_units; at += threads()) hidden_to[at] = hidden[at];
    if (thread() == 0) {
        float top = larger(larger(scratch[0], scratch[1]), scratch[2]), total = 0.0f, value_loss = 0.0f, mass = 0.0f;
        ROLLED for (int at = 0; at < 3; at++) total += expf(scratch[at] - top);
        ROLLED for (int at = 0; at < 3; at++) {
            value_loss -= target[1 + at] * (scratch[at] - top - logf(total));
            mass += target[1 + at];
        }
        ROLLED for (int at = 0; at < 3; at++) {
            last[at] = part_weights[1] * share * (mass * expf(scratch[at] - top) / total - target[1 + at]);
        }
        const float off = scratch[3] - target[4], distance = off < 0.0f ? -off : off;
        const float near = distance < 1.0f ? distance : 1.0f;
        last[3] = part_weights[2] * share * target[5] * (off < 0.0f ? -near : near);
        losses[(u64)board * 4 + 1] = value_loss;
        losses[(u64)board * 4 + 2] = near * (distance - 0.5f * near) * target[5];
        ROLLED for (int at = 0; at < 4; at++) value_gradients[(u64)board * 4 + at] = last[at];
    }
    barrier();
    ROLLED for (int unit = thread(); unit < hidden_units; unit += threads()) {
        float behind = 0.0f;
        ROLLED for (int at = 0; at < 4; at++) {
            behind += last[at] * heads.value_out[((u64)head.role * hidden_units + unit) * 4 + at];
        }
        // The hidden layer's values are needed no more.
        hidden[unit] = hidden[unit] > 0.0f ? behind : 0.0f;
        hidden_gradients[(u64)board * hidden_units + unit] = hidden[unit];
    }
    barrier();
    ROLLED for (int at = warp(); at < 3 * units; at += threads() / 32) {
        float behind = 0.0f;
        ROLLED for (int unit = lane(); unit < hidden_units; unit += 32) {
            behind += hidden[unit] * heads.value_hidden[((u64)head.role * 3 * units + at) * hidden_units + unit];
        }
        behind = warp_sum(behind);
        if (lane() == 0) back[at] = behind;
    }
    barrier();

    // What is not below keeps no gradient: the other role's channels and the padding.
    ROLLED for (int at = thread(); at < squares * width / 2; at += threads()) ((u32*)own_gradient)[at] = 0;
    barrier();
    ROLLED for (int unit = warp(); unit < units; unit += threads() / 32) {
        const float even = (back[unit] + back[units + unit] * scale) / squares;
        // The first square that has the maximum: the lowest of the lanes' first ones.
        int first = squares;
        ROLLED for (int square = lane(); square < squares && first == squares; square += 32) {
            if (head.value_unit<Half>(square, unit) == pooled[2 * units + unit]) first = square;
        }
        for (int mask = 16; mask > 0; mask /= 2) first = smaller(first, (int)shuffle_xor((float)first, mask));
        ROLLED for (int square = lane(); square < squares; square += 32) {
            const float behind = even + (square == first ? back[2 * units + unit] : 0.0f);
            own_gradient[(u64)square * width + (3 * head.role + 2) * units + unit] =
                Half::down(reviving(head.value_unit<Half>(square, unit), behind));
        }
    }

    // The policy's two layers: each square looks for the moves that begin or end there.
    ROLLED for (int unit = lane(); unit < units; unit += 32) {
        ROLLED for (int square = warp(); square < squares; square += threads() / 32) {
            float from_here = 0.0f, to_here = 0.0f;
            for (int at = begin; at < end; at++) {
                const int from = origin_of(moves[at]), to = destination_of(moves[at]);
                if (from == square) {
                    const int row = head.role * POLICY_ROWS + row_of(moves[at]);
                    from_here += move_gradients[at] *
                                 (heads.policy_out[(u64)row * units + unit] + head.destination<Half>(to, unit));
                }
                if (to == square) to_here += move_gradients[at] * head.origin<Half>(from, unit);
            }
            u16* own = own_gradient + (u64)square * width + 3 * head.role * units + unit;
            own[0] = Half::down(reviving(head.origin<Half>(square, unit), from_here));
            own[units] = Half::down(to_here);
        }
    }
    barrier();
    ROLLED for (int unit = warp(); unit < 2 * units; unit += threads() / 32) {
        float behind = 0.0f;
        if (unit / units == head.role) {
            ROLLED for (int square = lane(); square < squares; square += 32) {
                behind += Half::up(own_gradient[(u64)square * width + 3 * head.role * units + unit % units]);
            }
        }
        behind = warp_sum(behind);
        if (lane() == 0) bias_gradients[(u64)board * 2 * units + unit] = behind;
    }

    // What each square holds in the end.
    float occupancy_loss = 0.0f;
    const float square_share = part_weights[3] * target[5] * share / squares;
    ROLLED for (int square = thread(); square < squares; square += threads()) {
        const u16* own = head.x + (u64)square * width + 6 * units;
        const int content = contents[(u64)board * squares + square];
        float top = Half::up(own[0]), total = 0.0f;
        ROLLED for (int kind = 1; kind < 4; kind++) top = larger(top, Half::up(own[kind]));
        ROLLED for (int kind = 0; kind < 4; kind++) total += expf(Half::up(own[kind]) - top);
        occupancy_loss -= Half::up(own[content]) - top - logf(total);
        ROLLED for (int kind = 0; kind < 4; kind++) {
            const float chance = expf(Half::up(own[kind]) - top) / total;
            own_gradient[(u64)square * width + 6 * units + kind] =
                Half::down(square_share * (chance - (kind == content ? 1.0f : 0.0f)));
        }
    }
    occupancy_loss = block_sum(occupancy_loss, scratch);
    if (thread() == 0) losses[(u64)board * 4 + 3] = occupancy_loss / squares * target[5];
}

// Gradients of the policy's weights and biases a distance and direction, over the boards of a part:
// partial [parts, 2, 72, units + 1], the bias last. A warp has every `warps`-th row.
template <class Half>
DEVICE void policy_gradients(const u16* x, const float* pooled_bias, const float* globals, const u32* moves,
                             const u32* first_move, const float* move_gradients, float* partial, int boards,
                             int squares, int width, int units, int parts) {
    float* sums = (float*)shared();
    const int count = 2 * POLICY_ROWS * (units + 1), warps = threads() / 32;
    ROLLED for (int at = thread(); at < count; at += threads()) sums[at] = 0.0f;
    barrier();
    for (int board = first_of(block_x(), parts, boards); board < first_of(block_x() + 1, parts, boards); board++) {
        const int role = globals[(u64)board * GLOBALS] >= 0.5f ? 0 : 1;
        const Head head{x + (u64)board * squares * width, pooled_bias + ((u64)board * 2 + role) * units, squares, width,
                        units, role};
        for (int at = first_move[board]; at < (int)first_move[board + 1]; at++) {
            const int row = row_of(moves[at]);
            if (row % warps != warp()) continue;
            float* own = sums + (role * POLICY_ROWS + row) * (units + 1);
            ROLLED for (int unit = lane(); unit < units; unit += 32) {
                own[unit] += move_gradients[at] * head.origin<Half>(origin_of(moves[at]), unit);
            }
            if (lane() == 0) own[units] += move_gradients[at];
        }
    }
    barrier();
    ROLLED for (int at = thread(); at < count; at += threads()) partial[(u64)block_x() * count + at] = sums[at];
}

// Sums over the rows of each channel of a gradient, in parts [parts, channels]: the gradients of a convolution's bias.
template <class Half>
DEVICE void bias_gradients(const u16* gradient, float* partial, int rows, int channels, int parts) {
    for (int channel = thread(); channel < channels; channel += threads()) {
        float sum = 0.0f;
        for (int row = first_of(block_x(), parts, rows); row < first_of(block_x() + 1, parts, rows); row++) {
            sum += Half::up(gradient[(u64)row * channels + channel]);
        }
        partial[(u64)block_x() * channels + channel] = sum;
    }
}
