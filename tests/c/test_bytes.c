#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "test.h"

static void bytes_can_be_read(void)
{
    cyxla_executable *e = compiled(ADD_F32_4);
    cyxla_bytes *bytes = NULL;
    unsigned char magic[8];

    if (!e || !CHECK_OK(cyxla_executable_to_bytes(e, &bytes)))
        return;
    CHECK(cyxla_bytes_size(bytes) > sizeof magic);
    const void *data = cyxla_bytes_data(bytes);
    if (CHECK(data != NULL)) {
        memcpy(magic, data, sizeof magic);
        CHECK_BYTES(magic, "\x89" "CYX\r\n\x1a\n", sizeof magic);
    }
    CHECK(cyxla_bytes_data(bytes) == data);
    cyxla_bytes_free(bytes);
    cyxla_executable_free(e);
}

static void bytes_outlive_what_they_are_of(void)
{
    cyxla_executable *e = compiled(ADD_F32_4);
    cyxla_executable *again = NULL;
    cyxla_bytes *bytes = NULL;

    CHECK_OK(cyxla_executable_to_bytes(e, &bytes));
    cyxla_executable_free(e);
    CHECK_OK(cyxla_executable_from_bytes(cyxla_bytes_data(bytes), cyxla_bytes_size(bytes), &again));
    cyxla_bytes_free(bytes);
    CHECK_STR(cyxla_executable_name(again), "add_f32");
    cyxla_executable_free(again);
}

static void no_bytes_read_as_empty(void)
{
    CHECK(cyxla_bytes_data(NULL) == NULL);
    CHECK_INT(cyxla_bytes_size(NULL), 0);
    cyxla_bytes_free(NULL);
}

int main(int argc, char **argv)
{
    test_start(argc, argv, NULL);
    RUN(bytes_can_be_read);
    RUN(bytes_outlive_what_they_are_of);
    RUN(no_bytes_read_as_empty);
    return test_end();
}
