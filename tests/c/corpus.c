#include "corpus.h"

#include <stdio.h>
#include <stdlib.h>

#include "support.h"
#include "test.h"

const char *const CORPUS_VERSIONS[CORPUS_VERSION_COUNT] = {"0.4.30", "0.5.3", "0.7.2", "0.9.0", "0.10.2"};

void *corpus_file(const char *version, const char *program, size_t *size)
{
    char name[256];

    snprintf(name, sizeof name, "../corpus/%s/%s.jaxexport", version, program);
    return fixture(name, size);
}

cyxla_error *corpus_read(const char *version, const char *program, const char *platform, cyxla_program **out)
{
    size_t size = 0;
    void *data = corpus_file(version, program, &size);
    cyxla_error *error = cyxla_program_from_bytes(data, size, CYXLA_FORMAT_DETECT, platform, out);

    free(data);
    return error;
}

cyxla_executable *corpus_compiled(const char *version, const char *program)
{
    cyxla_program *read = NULL;
    cyxla_executable *executable = NULL;

    if (!CHECK_OK(corpus_read(version, program, NULL, &read)) ||
        !CHECK_OK(cyxla_compile_program(read, NULL, &executable)))
        printf("that was %s of JAX %s\n", program, version);
    cyxla_program_free(read);
    return executable;
}
