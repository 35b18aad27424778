// The kernels of evaluation by the names that the program asks for, in half precision.
#include "convolution.h"
#include "heads.h"
#include "pooling.h"

CONVOLUTION(convolution_f16_1, F16, 1)
CONVOLUTION(convolution_f16_2, F16, 2)
CONVOLUTION(convolution_f16_4, F16, 4)

KERNEL pack_f16(const float* weights, const float* scale, u16* out, int cin, int cout, int taps, int turned) {
    pack<F16>(weights, scale, out, cin, cout, taps, turned);
}
KERNEL pool_f16(const u16* x, float* out, int squares, int channels, float scale) {
    pool<F16>(x, out, squares, channels, scale);
}
KERNEL linear_layer(const float* in, const float* weights, const float* bias, float* out, int inputs, int outputs) {
    linear(in, weights, bias, out, inputs, outputs);
}
KERNEL answers(const u16* x, const float* pooled_bias, const float* globals, const float* weights, const u32* moves,
               const u32* first_move, float* priors, float* value, float* occupancy, int side, int width, int units,
               int hidden_units) {
    answer<F16>(x, pooled_bias, globals, weights, moves, first_move, priors, value, occupancy, side, width, units,
                hidden_units);
}
