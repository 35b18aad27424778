// The part of NVIDIA's driver that the program calls, with the kernels compiled for the CPU behind it: a library that
// takes the driver's place in tests. It runs the compiled kernels whatever the PTX says that it is given.
//
// HNEFI_EMULATED_CAPABILITY   the compute capability that it claims, 80 unless said
// HNEFI_EMULATED_DRIVER       the CUDA version that it claims, 12040 unless said
// HNEFI_EMULATED_MEMORY       bytes of memory that it has
// HNEFI_EMULATED_FAIL         the number of the launch that fails
#include "../evaluation.cu"
#include "../training.cu"

#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>

namespace emulated {

typedef std::function<void(void**)> Kernel;

template <class... Args, size_t... At>
Kernel kernel(void (*function)(Args...), std::index_sequence<At...>) {
    return [function](void** args) { function(*(Args*)args[At]...); };
}
template <class... Args> Kernel kernel(void (*function)(Args...)) {
    return kernel(function, std::index_sequence_for<Args...>());
}

#define NAMED(name) {#name, kernel(name)}
// What the calls share is never destroyed: threads may still call when the process ends.
inline std::map<std::string, Kernel>& kernels() {
    static auto& all = *new std::map<std::string, Kernel>{
        NAMED(convolution_f16_1), NAMED(convolution_f16_2), NAMED(convolution_f16_4), NAMED(convolution_bf16_1),
        NAMED(convolution_bf16_2), NAMED(convolution_bf16_4), NAMED(pack_f16), NAMED(pack_bf16), NAMED(pool_f16),
        NAMED(pool_bf16), NAMED(linear_layer), NAMED(answers), NAMED(batch_moments), NAMED(batch_normalisation),
        NAMED(normalised), NAMED(gated), NAMED(batch_normalisation_back), NAMED(normalised_back),
        NAMED(weight_gradient), NAMED(add_weight_gradient), NAMED(add_up), NAMED(pooled_back),
        NAMED(linear_layer_back), NAMED(linear_gradient), NAMED(batch_losses), NAMED(policy_gradient),
        NAMED(bias_gradient),
    };
    return all;
}

inline long setting(const char* name, long otherwise) {
    const char* text = getenv(name);
    return text ? atol(text) : otherwise;
}

// Held by every call: the emulated card does one thing at a time.
inline std::mutex& lock() {
    static auto& one = *new std::mutex;
    return one;
}
inline std::map<u64, std::unique_ptr<Guarded>>& memory() {
    static auto& all = *new std::map<u64, std::unique_ptr<Guarded>>;
    return all;
}
inline size_t& used() {
    static size_t bytes = 0;
    return bytes;
}
inline long& launches() {
    static long count = 0;
    return count;
}
inline std::map<u64, size_t>& sizes() {
    static auto& all = *new std::map<u64, size_t>;
    return all;
}

}  // namespace emulated

typedef int Result;
const Result SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, INVALID_DEVICE = 101, NOT_FOUND = 500,
             LAUNCH_FAILED = 719;

extern "C" {
Result cuInit(unsigned) { return SUCCESS; }
Result cuDriverGetVersion(int* version) {
    *version = (int)emulated::setting("HNEFI_EMULATED_DRIVER", 12040);
    return SUCCESS;
}
Result cuDeviceGetCount(int* count) { return *count = 1, SUCCESS; }
Result cuDeviceGet(int* device, int ordinal) { return *device = ordinal, ordinal == 0 ? SUCCESS : INVALID_DEVICE; }
Result cuDeviceGetName(char* name, int length, int) { return snprintf(name, length, "emulated"), SUCCESS; }
Result cuDeviceGetAttribute(int* value, int attribute, int) {
    const int capability = (int)emulated::setting("HNEFI_EMULATED_CAPABILITY", 80);
    // 75 and 76: compute capability; 16: multiprocessors; 97: shared memory that a block can be given.
    *value = attribute == 75 ? capability / 10 : attribute == 76 ? capability % 10 : attribute == 16 ? 2
             : attribute == 97 ? 99 << 10 : 0;
    return SUCCESS;
}
Result cuDeviceTotalMem_v2(size_t* bytes, int) {
    return *bytes = emulated::setting("HNEFI_EMULATED_MEMORY", 8L << 30), SUCCESS;
}
Result cuDevicePrimaryCtxRetain(void** context, int) { return *context = (void*)1, SUCCESS; }
Result cuDevicePrimaryCtxRelease_v2(int) { return SUCCESS; }
Result cuCtxGetCurrent(void** context) { return *context = (void*)1, SUCCESS; }
Result cuCtxSetCurrent(void*) { return SUCCESS; }
Result cuCtxSynchronize() { return SUCCESS; }
Result cuStreamSynchronize(void*) { return SUCCESS; }
Result cuStreamCreate(void** stream, unsigned) { return *stream = (void*)2, SUCCESS; }
Result cuStreamDestroy_v2(void*) { return SUCCESS; }
Result cuStreamWaitEvent(void*, void*, unsigned) { return SUCCESS; }
Result cuEventCreate(void** event, unsigned) { return *event = (void*)3, SUCCESS; }
Result cuEventRecord(void*, void*) { return SUCCESS; }
Result cuEventSynchronize(void*) { return SUCCESS; }
Result cuEventDestroy_v2(void*) { return SUCCESS; }
Result cuGetErrorName(Result, const char** name) { return *name = "CUDA_ERROR_EMULATED", SUCCESS; }
Result cuGetErrorString(Result error, const char** text) {
    *text = error == OUT_OF_MEMORY ? "out of memory" : error == LAUNCH_FAILED ? "unspecified launch failure" : "failed";
    return SUCCESS;
}

Result cuMemAlloc_v2(u64* pointer, size_t bytes) {
    std::lock_guard<std::mutex> held(emulated::lock());
    if (bytes == 0) return INVALID_VALUE;
    if (emulated::used() + bytes > (size_t)emulated::setting("HNEFI_EMULATED_MEMORY", 8L << 30)) return OUT_OF_MEMORY;
    auto memory = std::make_unique<emulated::Guarded>(bytes);
    *pointer = (u64)(uintptr_t)memory->begin;
    emulated::used() += bytes;
    emulated::sizes()[*pointer] = bytes;
    emulated::memory()[*pointer] = std::move(memory);
    return SUCCESS;
}
Result cuMemFree_v2(u64 pointer) {
    std::lock_guard<std::mutex> held(emulated::lock());
    emulated::used() -= emulated::sizes()[pointer];
    emulated::sizes().erase(pointer);
    return emulated::memory().erase(pointer) == 1 ? SUCCESS : INVALID_VALUE;
}
Result cuMemHostAlloc(void** pointer, size_t bytes, unsigned) { return *pointer = malloc(bytes), SUCCESS; }
Result cuMemFreeHost(void* pointer) { return free(pointer), SUCCESS; }
Result cuMemcpyHtoDAsync_v2(u64 to, const void* from, size_t bytes, void*) {
    return memcpy((void*)(uintptr_t)to, from, bytes), SUCCESS;
}
Result cuMemcpyDtoHAsync_v2(void* to, u64 from, size_t bytes, void*) {
    return memcpy(to, (const void*)(uintptr_t)from, bytes), SUCCESS;
}
Result cuMemsetD8Async(u64 to, unsigned char value, size_t bytes, void*) {
    return memset((void*)(uintptr_t)to, value, bytes), SUCCESS;
}

Result cuModuleLoadData(void** module, const void* image) {
    // The driver takes PTX as text that ends in a zero.
    return *module = (void*)4, strstr((const char*)image, ".version 8.4") ? SUCCESS : INVALID_VALUE;
}
Result cuModuleUnload(void*) { return SUCCESS; }
Result cuModuleGetFunction(void** function, void*, const char* name) {
    auto found = emulated::kernels().find(name);
    if (found == emulated::kernels().end()) return NOT_FOUND;
    return *function = &found->second, SUCCESS;
}
Result cuFuncSetAttribute(void*, int, int) { return SUCCESS; }

Result cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned threads, unsigned,
                      unsigned, unsigned shared_bytes, void*, void** args, void**) {
    std::lock_guard<std::mutex> held(emulated::lock());
    if (++emulated::launches() == emulated::setting("HNEFI_EMULATED_FAIL", 0)) return LAUNCH_FAILED;
    if (grid_x == 0 || grid_y == 0 || grid_z != 1 || threads == 0 || threads > 1024 || threads % 32 != 0 ||
        shared_bytes > 99u << 10) {
        return INVALID_VALUE;
    }
    static auto& block = *new emulated::Block;
    block.threads = (int)threads;
    block.blocks_x = (int)grid_x;
    block.body = [function, args] { (*(emulated::Kernel*)function)(args); };
    const emulated::Guarded own(shared_bytes + 16);
    block.memory = own.begin + 16;
    if (shared_bytes % 16 != 0) return INVALID_VALUE;
    for (unsigned y = 0; y < grid_y; y++) {
        for (unsigned x = 0; x < grid_x; x++) {
            memset(block.memory, 0xff, shared_bytes);
            block.x = (int)x, block.y = (int)y;
            emulated::run(block, emulated::launches() % 2 == 0);
        }
    }
    return SUCCESS;
}
}
