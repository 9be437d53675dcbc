#define _POSIX_C_SOURCE 200809L

#include "programs.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state = 0x9e3779b97f4a7c15U;

/* Between -1 and 1 (xorshift64). */
static float next_number(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (float)(int32_t)(state >> 32) / 2147483648.0F;
}

/* Text that grows. */
struct text {
    char *start;
    size_t used;
    size_t room;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *text, const char *format, ...)
{
    for (;;) {
        va_list values;
        va_start(values, format);
        int needed = vsnprintf(text->start + text->used, text->room - text->used, format, values);
        va_end(values);
        if ((size_t)needed < text->room - text->used) {
            text->used += (size_t)needed;
            return;
        }
        text->room = 2 * (text->room + (size_t)needed + 1);
        text->start = realloc(text->start, text->room);
        if (!text->start)
            abort();
    }
}

static struct array array(size_t rank, int64_t first, int64_t second)
{
    struct array made = {.rank = rank, .dims = {first, second}, .size = sizeof(float) * (size_t)first * (size_t)second};

    if (posix_memalign(&made.data, 64, made.size) != 0)
        abort();
    for (size_t i = 0; i < made.size / sizeof(float); i++)
        ((float *)made.data)[i] = next_number();
    return made;
}

static struct array vector(int64_t length)
{
    struct array made = array(1, length, 1);

    made.dims[1] = 0;
    return made;
}

/* A weight of the program with numbers between -0.1 and 0.1, and the constant that holds
 * it, as MLIR writes raw bytes. */
static void add_weight(struct program *program, struct text *text, char letter, int number, int rows, int columns)
{
    struct array weight = array(2, rows, columns);
    const unsigned char *bytes = weight.data;

    for (size_t i = 0; i < weight.size / sizeof(float); i++)
        ((float *)weight.data)[i] *= 0.1F;
    add(text, "  %%%c%d = stablehlo.constant dense<\"0x", letter, number);
    for (size_t i = 0; i < weight.size; i++)
        add(text, "%02X", bytes[i]);
    add(text, "\"> : tensor<%dx%dxf32>\n", rows, columns);
    program->weights[program->weight_count++] = weight;
}

static void add_layer(struct program *program, struct text *text, int number, const char *from, int inputs, int outputs,
                      bool last)
{
    add_weight(program, text, 'w', number, inputs, outputs);
    add_weight(program, text, 'b', number, 1, outputs);
    add(text, "  %%d%d = stablehlo.dot_general %%%s, %%w%d, contracting_dims = [1] x [0]\n", number, from, number);
    add(text, "      : (tensor<1x%dxf32>, tensor<%dx%dxf32>) -> tensor<1x%dxf32>\n", inputs, inputs, outputs, outputs);
    add(text, "  %%s%d = stablehlo.add %%d%d, %%b%d : tensor<1x%dxf32>\n", number, number, number, outputs);
    if (last)
        return;
    add(text, "  %%z%d = stablehlo.constant dense<0.0> : tensor<1x%dxf32>\n", number, outputs);
    add(text, "  %%r%d = stablehlo.maximum %%s%d, %%z%d : tensor<1x%dxf32>\n", number, number, number, outputs);
}

/* 64 -> 128 -> 128 -> 10, relu, weights inside. */
static void make_mlp(struct program *program)
{
    struct text text = {0};

    *program = (struct program){.id = "mlp", .name = "mlp 1x64-128-128-10", .input_count = 1, .output_count = 1};
    add(&text, "module @mlp { func.func public @main(%%x: tensor<1x64xf32>) -> tensor<1x10xf32> {\n");
    add_layer(program, &text, 1, "x", 64, 128, false);
    add_layer(program, &text, 2, "r1", 128, 128, false);
    add_layer(program, &text, 3, "r2", 128, 10, true);
    add(&text, "  return %%s3 : tensor<1x10xf32> } }\n");
    program->text = text.start;
    program->inputs[0] = array(2, 1, 64);
    program->outputs[0] = array(2, 1, 10);
}

static void make_tanh(struct program *program)
{
    struct text text = {0};

    add(&text, "module @tanh { func.func public @main(%%a: tensor<8xf32>, %%b: tensor<8xf32>) -> tensor<8xf32> {\n"
               "  %%one = stablehlo.constant dense<1.0> : tensor<8xf32>\n"
               "  %%0 = stablehlo.multiply %%a, %%b : tensor<8xf32>\n"
               "  %%1 = stablehlo.add %%0, %%one : tensor<8xf32>\n"
               "  %%2 = stablehlo.tanh %%1 : tensor<8xf32>\n"
               "  return %%2 : tensor<8xf32> } }\n");
    *program = (struct program){
        .id = "tanh", .name = "tanh(a*b+1) f32[8]", .text = text.start, .input_count = 2, .output_count = 1};
    program->inputs[0] = vector(8);
    program->inputs[1] = vector(8);
    program->outputs[0] = vector(8);
}

static void make_double(struct program *program)
{
    struct text text = {0};

    add(&text, "module @double { func.func public @main(%%a: tensor<1048576xf32>) -> tensor<1048576xf32> {\n"
               "  %%0 = stablehlo.add %%a, %%a : tensor<1048576xf32>\n"
               "  return %%0 : tensor<1048576xf32> } }\n");
    *program = (struct program){
        .id = "double", .name = "a+a f32[1048576]", .text = text.start, .input_count = 1, .output_count = 1};
    program->inputs[0] = vector(1048576);
    program->outputs[0] = vector(1048576);
}

static void make_matmul(struct program *program)
{
    struct text text = {0};

    add(&text, "module @matmul { func.func public @main(%%a: tensor<512x512xf32>, %%b: tensor<512x512xf32>)\n"
               "    -> tensor<512x512xf32> {\n"
               "  %%0 = stablehlo.dot_general %%a, %%b, contracting_dims = [1] x [0]\n"
               "      : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>\n"
               "  return %%0 : tensor<512x512xf32> } }\n");
    *program = (struct program){
        .id = "matmul", .name = "matmul 512x512", .text = text.start, .input_count = 2, .output_count = 1};
    program->inputs[0] = array(2, 512, 512);
    program->inputs[1] = array(2, 512, 512);
    program->outputs[0] = array(2, 512, 512);
}

/* The sum of 16 arguments. */
static void make_arguments(struct program *program)
{
    struct text text = {0};

    add(&text, "module @arguments { func.func public @main(");
    for (int i = 0; i < 16; i++)
        add(&text, "%s%%a%d: tensor<8xf32>", i ? ", " : "", i);
    add(&text, ") -> tensor<8xf32> {\n  %%s1 = stablehlo.add %%a0, %%a1 : tensor<8xf32>\n");
    for (int i = 2; i < 16; i++)
        add(&text, "  %%s%d = stablehlo.add %%s%d, %%a%d : tensor<8xf32>\n", i, i - 1, i);
    add(&text, "  return %%s15 : tensor<8xf32> } }\n");
    *program = (struct program){
        .id = "arguments", .name = "16 arguments f32[8]", .text = text.start, .input_count = 16, .output_count = 1};
    for (int i = 0; i < 16; i++)
        program->inputs[i] = vector(8);
    program->outputs[0] = vector(8);
}

/* One argument and 16 sums with it. */
static void make_outputs(struct program *program)
{
    struct text text = {0};

    add(&text, "module @outputs { func.func public @main(%%a: tensor<8xf32>) -> (");
    for (int i = 0; i < 16; i++)
        add(&text, "%stensor<8xf32>", i ? ", " : "");
    add(&text, ") {\n");
    for (int i = 0; i < 16; i++) {
        add(&text, "  %%c%d = stablehlo.constant dense<%d.0> : tensor<8xf32>\n", i, i);
        add(&text, "  %%s%d = stablehlo.add %%a, %%c%d : tensor<8xf32>\n", i, i);
    }
    add(&text, "  return ");
    for (int i = 0; i < 16; i++)
        add(&text, "%s%%s%d", i ? ", " : "", i);
    add(&text, " : ");
    for (int i = 0; i < 16; i++)
        add(&text, "%stensor<8xf32>", i ? ", " : "");
    add(&text, " } }\n");
    *program = (struct program){
        .id = "outputs", .name = "16 outputs f32[8]", .text = text.start, .input_count = 1, .output_count = 16};
    program->inputs[0] = vector(8);
    for (int i = 0; i < 16; i++)
        program->outputs[i] = vector(8);
}

/* A step of training: the square error of x*w as a copy of x, and w a little less wrong. */
static void make_training(struct program *program)
{
    struct text text = {0};

    add(&text, "module @training { func.func public @main(%%x: tensor<8x64xf32>,\n"
               "    %%w: tensor<64x64xf32> {tf.aliasing_output = 1 : i32}) -> (tensor<f32>, tensor<64x64xf32>) {\n"
               "  %%rate = stablehlo.constant dense<0.01> : tensor<64x64xf32>\n"
               "  %%zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
               "  %%y = stablehlo.dot_general %%x, %%w, contracting_dims = [1] x [0]\n"
               "      : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>\n"
               "  %%e = stablehlo.subtract %%y, %%x : tensor<8x64xf32>\n"
               "  %%g = stablehlo.dot_general %%x, %%e, contracting_dims = [0] x [0]\n"
               "      : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<64x64xf32>\n"
               "  %%s = stablehlo.multiply %%g, %%rate : tensor<64x64xf32>\n"
               "  %%v = stablehlo.subtract %%w, %%s : tensor<64x64xf32>\n"
               "  %%q = stablehlo.multiply %%e, %%e : tensor<8x64xf32>\n"
               "  %%l = stablehlo.reduce(%%q init: %%zero) applies stablehlo.add across dimensions = [0, 1]\n"
               "      : (tensor<8x64xf32>, tensor<f32>) -> tensor<f32>\n"
               "  return %%l, %%v : tensor<f32>, tensor<64x64xf32> } }\n");
    *program = (struct program){.id = "training",
                                .name = "training step 64x64, donated",
                                .text = text.start,
                                .input_count = 2,
                                .output_count = 2};
    program->inputs[0] = array(2, 8, 64);
    program->inputs[1] = array(2, 64, 64);
    program->outputs[0] = array(0, 1, 1);
    program->outputs[1] = array(2, 64, 64);
    program->first_state = malloc(program->inputs[1].size);
    if (!program->first_state)
        abort();
    memcpy(program->first_state, program->inputs[1].data, program->inputs[1].size);
}

void keep_state(const struct program *program)
{
    if (!program->first_state)
        return;
    const struct array *input = &program->inputs[program->input_count - 1];
    memcpy(input->data, program->outputs[program->output_count - 1].data, input->size);
}

void reset_state(const struct program *program)
{
    if (!program->first_state)
        return;
    const struct array *input = &program->inputs[program->input_count - 1];
    memcpy(input->data, program->first_state, input->size);
}

void make_programs(struct program programs[PROGRAM_COUNT])
{
    make_mlp(&programs[0]);
    make_tanh(&programs[1]);
    make_double(&programs[2]);
    make_matmul(&programs[3]);
    make_arguments(&programs[4]);
    make_outputs(&programs[5]);
    make_training(&programs[6]);
}

static FILE *open_file(const char *folder, const char *name, const char *ending)
{
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/%s%s", folder, name, ending);
    FILE *file = length < (int)sizeof path ? fopen(path, "wb") : NULL;

    if (!file) {
        perror(path);
        exit(1);
    }
    return file;
}

static void close_file(FILE *file)
{
    if (ferror(file) || fclose(file) != 0) {
        perror("a file of the programs could not be written");
        exit(1);
    }
}

static void write_dims(FILE *list, const char *key, const struct array *arrays, size_t count)
{
    fprintf(list, ", \"%s\": [", key);
    for (size_t i = 0; i < count; i++) {
        fputs(i ? ", [" : "[", list);
        for (size_t j = 0; j < arrays[i].rank; j++)
            fprintf(list, "%s%lld", j ? ", " : "", (long long)arrays[i].dims[j]);
        fputs("]", list);
    }
    fputs("]", list);
}

static void write_data(FILE *data, const struct array *arrays, size_t count)
{
    for (size_t i = 0; i < count; i++)
        fwrite(arrays[i].data, 1, arrays[i].size, data);
}

static void write_program(const char *folder, const struct program *program, FILE *list)
{
    FILE *text = open_file(folder, program->id, ".mlir");
    FILE *data = open_file(folder, program->id, ".f32");

    fprintf(list, "{\"id\": \"%s\", \"name\": \"%s\"", program->id, program->name);
    write_dims(list, "inputs", program->inputs, program->input_count);
    write_dims(list, "weights", program->weights, program->weight_count);
    write_dims(list, "outputs", program->outputs, program->output_count);
    fputs("}", list);
    fputs(program->text, text);
    write_data(data, program->inputs, program->input_count);
    write_data(data, program->weights, program->weight_count);
    write_data(data, program->outputs, program->output_count);
    close_file(text);
    close_file(data);
}

void write_programs(const char *folder, const struct program programs[PROGRAM_COUNT])
{
    FILE *list = open_file(folder, "programs", ".json");

    for (size_t i = 0; i < PROGRAM_COUNT; i++) {
        fputs(i ? ",\n " : "[", list);
        write_program(folder, &programs[i], list);
    }
    fputs("]\n", list);
    close_file(list);
}
