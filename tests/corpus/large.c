/* Large exports: reading one takes about the time that the file takes, and about its
 * size in memory; and it runs.
 *
 *     large read FILE
 *     large run FILE INPUT OUTPUT
 *
 * `cargo xtask test` makes the files and runs this.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cyxla.h>

#define ROUNDS 11

/* What the time and the memory of reading may be, as parts of the file's own. */
static const double TIME_LIMIT = 1.2;
static const double MEMORY_LIMIT = 1.1;

static void give_up(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static void need(cyxla_error *error, const char *what)
{
    if (error)
        give_up(what, cyxla_error_message(error));
}

static cyxla_program *program_of(const char *path)
{
    cyxla_program *program = NULL;

    need(cyxla_program_from_file(path, CYXLA_FORMAT_DETECT, NULL, &program), path);
    return program;
}

/* The file in new memory. */
static char *bytes_of(const char *path, size_t *size)
{
    struct stat found;
    int file = open(path, O_RDONLY | O_CLOEXEC);

    if (file < 0 || fstat(file, &found) != 0)
        give_up(path, "cannot be opened");
    *size = (size_t)found.st_size;
    char *data = malloc(*size + 1);
    if (!data)
        give_up(path, "does not fit into memory");
    for (size_t done = 0; done < *size;) {
        ssize_t got = read(file, data + done, *size - done);
        if (got <= 0)
            give_up(path, "cannot be read");
        done += (size_t)got;
    }
    close(file);
    return data;
}

/* In processor time of the process, which a busy machine does not stretch. */
static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

static void keep_least(double *least, double start)
{
    double took = now() - start;

    *least = took < *least ? took : *least;
}

/* The most memory that the process has had at once, in bytes. */
static double peak(void)
{
    char line[256];
    double kibibytes = 0;
    FILE *status = fopen("/proc/self/status", "r");

    while (status && fgets(line, sizeof line, status)) {
        if (strncmp(line, "VmHWM:", 6) == 0)
            kibibytes = strtod(line + 6, NULL);
    }
    if (!status || kibibytes <= 0)
        give_up("/proc/self/status", "tells no peak of memory");
    fclose(status);
    return kibibytes * 1024;
}

static int check(const char *what, double part, double limit)
{
    printf("%s: %.3f of the file's own, at most %.1f\n", what, part, limit);
    return part < limit ? 0 : 1;
}

static int read_in_no_time(const char *path)
{
    double reading = 1e9;
    double library = 1e9;
    size_t size = 0;

    /* First, while the process has had nothing large. */
    double before = peak();
    cyxla_program_free(program_of(path));
    double beyond = peak() - before;
    for (int i = 0; i < ROUNDS; i++) {
        double start = now();
        char *data = bytes_of(path, &size);
        keep_least(&reading, start);
        free(data);
        start = now();
        cyxla_program *program = program_of(path);
        keep_least(&library, start);
        cyxla_program_free(program);
    }
    printf("%.1f MB: the file takes %.1f ms, the program %.1f ms and %.1f MB\n", (double)size / 1e6, reading, library,
           beyond / 1e6);
    int failed = check("time", library / reading, TIME_LIMIT);
    return check("memory", beyond / (double)size, MEMORY_LIMIT) + failed;
}

static int run(const char *path, const char *input_path, const char *output_path)
{
    size_t input_size = 0;
    size_t wanted_size = 0;
    const void *input = bytes_of(input_path, &input_size);
    const void *wanted = bytes_of(output_path, &wanted_size);
    void *output = calloc(1, wanted_size);
    cyxla_program *program = program_of(path);
    cyxla_executable *executable = NULL;

    if (!output)
        give_up(path, "no memory for its result");
    need(cyxla_compile_program(program, NULL, &executable), path);
    need(cyxla_run(executable, &input, &input_size, 1, &output, &wanted_size, 1), path);
    if (memcmp(output, wanted, wanted_size) != 0)
        give_up(path, "the result is not JAX's");
    printf("%s gives JAX's result\n", path);
    cyxla_executable_free(executable);
    cyxla_program_free(program);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "read") == 0)
        return read_in_no_time(argv[2]);
    if (argc == 5 && strcmp(argv[1], "run") == 0)
        return run(argv[2], argv[3], argv[4]);
    fprintf(stderr, "usage: large read FILE | large run FILE INPUT OUTPUT\n");
    return 2;
}
