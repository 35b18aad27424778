// The kernels of training by the names that the program asks for, in bfloat16. `linear_layer`, which has no 16-bit
// numbers, is in evaluation.cu.
#include "pooling.h"
#include "training.h"

CONVOLUTION(convolution_bf16_1, Bf16, 1)
CONVOLUTION(convolution_bf16_2, Bf16, 2)
CONVOLUTION(convolution_bf16_4, Bf16, 4)

KERNEL pack_bf16(const float* weights, const float* scale, u16* out, int cin, int cout, int taps, int turned) {
    pack<Bf16>(weights, scale, out, cin, cout, taps, turned);
}
KERNEL pool_bf16(const u16* x, float* out, int squares, int channels, float scale) {
    pool<Bf16>(x, out, squares, channels, scale);
}
KERNEL batch_moments(const u16* z, float* out, int boards, int squares, int channels, int parts) {
    moments<Bf16>(z, out, boards, squares, channels, parts);
}
KERNEL batch_normalisation(const float* partial, int parts, double count, const float* gamma, const float* beta,
                           const float* running, double epsilon, double most_ratio, double most_offset, float* norm,
                           float* statistics, int channels) {
    normalisation(partial, parts, count, gamma, beta, running, epsilon, most_ratio, most_offset, norm, statistics,
                  channels);
}
KERNEL normalised(const u16* z, float* norm, const float* board_bias, const u16* skip, u16* out, int rows, int squares,
                  int channels) {
    normalise<Bf16>(z, norm, board_bias, skip, out, rows, squares, channels);
}
KERNEL gated(u16* gradient, const u16* out, const u16* z, float* partial, float* board_sums, int boards, int squares,
             int channels, int parts) {
    gate<Bf16>(gradient, out, z, partial, board_sums, boards, squares, channels, parts);
}
KERNEL batch_normalisation_back(const float* partial, int parts, float count, float* norm, float* gamma_gradient,
                                float* beta_gradient, float* factors, int channels) {
    normalisation_back(partial, parts, count, norm, gamma_gradient, beta_gradient, factors, channels);
}
KERNEL normalised_back(const u16* gradient, const u16* z, const float* factors, u16* out, int rows, int channels) {
    normalise_back<Bf16>(gradient, z, factors, out, rows, channels);
}
KERNEL __launch_bounds__(256) weight_gradient(const void* x, int bits, const u16* gradient, float* partial, int rows,
                                              int side, int cin, int cout, int taps, int parts, int wide) {
    weight_gradients<Bf16>(x, bits, gradient, partial, rows, side, cin, cout, taps, parts, wide);
}
KERNEL add_weight_gradient(const float* partial, float* out, int parts, int cin, int cout, int taps) {
    add_weight_gradients(partial, out, parts, cin, cout, taps);
}
KERNEL add_up(const float* partial, float* out, int parts, int count) { add_parts(partial, out, parts, count); }
KERNEL pooled_back(const u16* x, const float* pooled, const float* pooled_gradient, u16* gradient, int squares,
                   int channels, float scale) {
    pool_back<Bf16>(x, pooled, pooled_gradient, gradient, squares, channels, scale);
}
KERNEL linear_layer_back(const float* gradient, const float* weights, float* in_gradient, int inputs, int outputs) {
    linear_back(gradient, weights, in_gradient, inputs, outputs);
}
KERNEL linear_gradient(const float* in, const float* gradient, const float* globals, float* out, int boards, int inputs,
                       int outputs, int role) {
    linear_gradients(in, gradient, globals, out, boards, inputs, outputs, role);
}
KERNEL batch_losses(const u16* x, const float* pooled_bias, const float* globals, const float* weights,
                    const u32* moves, const u32* first_move, const float* chances, const float* targets,
                    const unsigned char* contents, const float* part_weights, float* each, float* move_gradients,
                    u16* gradient, float* bias_gradients, float* value_pooled, float* value_hidden,
                    float* hidden_gradients, float* value_gradients, int boards, int side, int width, int units,
                    int hidden_units) {
    losses<Bf16>(x, pooled_bias, globals, weights, moves, first_move, chances, targets, contents, part_weights, each,
                 move_gradients, gradient, bias_gradients, value_pooled, value_hidden, hidden_gradients,
                 value_gradients, boards, side, width, units, hidden_units);
}
KERNEL policy_gradient(const u16* x, const float* pooled_bias, const float* globals, const u32* moves,
                       const u32* first_move, const float* move_gradients, float* partial, int boards, int squares,
                       int width, int units, int parts) {
    policy_gradients<Bf16>(x, pooled_bias, globals, moves, first_move, move_gradients, partial, boards, squares, width,
                           units, parts);
}
KERNEL bias_gradient(const u16* gradient, float* partial, int rows, int channels, int parts) {
    bias_gradients<Bf16>(gradient, partial, rows, channels, parts);
}
