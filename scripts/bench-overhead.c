// The C side of scripts/bench-overhead.mjs: nanoseconds of an empty kernel's enqueue and of a blocking read
// of 4 bytes, the median of several rounds. Argument: part of the platform's name.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 15, CALLS = 500 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

static int ascending(const void* a, const void* b) {
    double d = *(const double*)a - *(const double*)b;
    return d < 0 ? -1 : d > 0;
}

static double median(double* values) {
    qsort(values, ROUNDS, sizeof *values, ascending);
    return values[ROUNDS / 2];
}

int main(int argc, char** argv) {
    cl_platform_id platforms[16], platform = NULL;
    cl_uint count = 0;
    clGetPlatformIDs(16, platforms, &count);
    for (cl_uint i = 0; i < count; i++) {
        char name[256] = "";
        clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name - 1, name, NULL);
        if (!platform && strstr(name, argc > 1 ? argv[1] : "")) platform = platforms[i];
    }
    if (!platform) return 1;
    cl_device_id device;
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL)) return 1;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
    const char* source = "kernel void nothing() {}";
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, NULL);
    if (clBuildProgram(program, 1, &device, "", NULL, NULL)) return 1;
    cl_kernel kernel = clCreateKernel(program, "nothing", NULL);
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 4, NULL, NULL);
    size_t global = 1;
    unsigned host;
    double enqueue[ROUNDS], read[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        double start = now();
        for (int i = 0; i < CALLS; i++) {
            if (clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL)) return 1;
        }
        enqueue[round] = (now() - start) / CALLS;
        clFinish(queue);
        start = now();
        for (int i = 0; i < CALLS; i++) {
            if (clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 4, &host, 0, NULL, NULL)) return 1;
        }
        read[round] = (now() - start) / CALLS;
    }
    printf("{\"enqueue\": %.0f, \"read\": %.0f}\n", median(enqueue), median(read));
    return 0;
}
