/* A buffer of one client, given to another, ends the process or gives an error that names
 * the same device twice. A process has one client here, so there is no other one: whatever
 * is asked for later, buffers and programs of before and after go together. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "test.h"

static const float FOUR[] = {1, 2, 3, 4};
static const float TWICE[] = {2, 4, 6, 8};
static const int64_t DIMS_4[] = {4};

static cyxla_buffer *four_on(size_t device)
{
    cyxla_buffer *b = NULL;

    CHECK_OK(cyxla_buffer_from_host(device, CYXLA_DTYPE_F32, DIMS_4, 1, NULL, FOUR, &b));
    return b;
}

static bool doubles(const cyxla_executable *e, const cyxla_buffer *a)
{
    float back[4] = {0};
    cyxla_buffer *out = NULL;
    bool right = CHECK_OK(cyxla_execute(e, &a, 1, &out, 1)) && CHECK_OK(cyxla_buffer_to_host(out, back, sizeof back)) &&
                 CHECK_FLOATS(back, TWICE, 4);

    cyxla_buffer_free(out);
    return right;
}

static const cyxla_runtime_info *initialized(const char *path, const char *platform, int64_t device_count)
{
    const cyxla_runtime_info *info = NULL;
    cyxla_options *options = cyxla_options_new();

    CHECK_OK(cyxla_options_set_int(options, "cpu_device_count", device_count));
    CHECK_OK(cyxla_initialize(path, platform, options, &info));
    cyxla_options_free(options);
    return info;
}

/* All three leave the process without a client. */
static void failures_come_first(void)
{
    cyxla_options *options = cyxla_options_new();

    CHECK_FAILS(cyxla_initialize("/no/such/plugin.so", NULL, NULL, NULL), CYXLA_CODE_NOT_FOUND, "/no/such/plugin.so");
    CHECK_FAILS(cyxla_initialize(NULL, "cuda", NULL, NULL), CYXLA_CODE_FAILED_PRECONDITION, "cpu", "cuda");
    CHECK_OK(cyxla_options_set_string(options, "cpu_device_count", "two"));
    CHECK_FAILS(cyxla_initialize(NULL, NULL, options, NULL), CYXLA_CODE_INVALID_ARGUMENT, "cpu_device_count");
    cyxla_options_free(options);
    CHECK(!cyxla_is_initialized());
}

static void one_client_whatever_is_asked_for_later(void)
{
    failures_come_first();
    const cyxla_runtime_info *info = initialized(NULL, "cpu", 2);
    const char *path = cyxla_runtime_info_plugin_path(info);
    cyxla_executable *before = compiled(DOUBLE_F32_4);
    cyxla_buffer *buffer_before = four_on(0);

    CHECK_INT(cyxla_runtime_info_device_count(info), 2);
    /* Other options, another platform, no such file, nothing at all. */
    CHECK(initialized(NULL, "cpu", 4) == info);
    CHECK(initialized(NULL, "cuda", 1) == info);
    CHECK(initialized("/no/such/plugin.so", NULL, 1) == info);
    const cyxla_runtime_info *same = NULL;
    CHECK_OK(cyxla_initialize(NULL, NULL, NULL, &same));
    CHECK(same == info);
    CHECK_INT(cyxla_runtime_info_device_count(info), 2);
    CHECK_STR(cyxla_runtime_info_plugin_path(same), path);

    cyxla_executable *after = compiled(DOUBLE_F32_4);
    cyxla_buffer *buffer_after = four_on(0);
    doubles(before, buffer_before);
    doubles(before, buffer_after);
    doubles(after, buffer_before);
    doubles(after, buffer_after);
    cyxla_executable *sum = compiled(ADD_F32_4);
    const cyxla_buffer *both[] = {buffer_before, buffer_after};
    cyxla_buffer *out = NULL;
    CHECK_OK(cyxla_execute(sum, both, 2, &out, 1));
    CHECK_FLOATS(cyxla_buffer_data(out), TWICE, 4);
    cyxla_buffer_free(out);
    cyxla_buffer_free(buffer_before);
    cyxla_buffer_free(buffer_after);
    cyxla_executable_free(before);
    cyxla_executable_free(after);
    cyxla_executable_free(sum);
}

/* A whole other plugin, which exists and works, given by its path and by the variable. */
static void another_plugin_changes_nothing(void)
{
    const char *other = getenv("CYXLA_TEST_OTHER_PLUGIN");
    const cyxla_runtime_info *info = NULL;
    cyxla_buffer *buffer = four_on(0);

    CHECK_OK(cyxla_runtime_info_get(&info));
    if (other && *other)
        CHECK(initialized(other, NULL, 1) == info);
    CHECK(initialized(getenv("CYXLA_PLUGIN"), "cpu", 1) == info);
    CHECK_STR(cyxla_runtime_info_plugin_path(info), getenv("CYXLA_PLUGIN"));
    cyxla_executable *e = compiled(DOUBLE_F32_4);
    doubles(e, buffer);
    cyxla_buffer_free(buffer);
    cyxla_executable_free(e);
}

/* What plugins say of it when the clients differ is "on cpu:0, but should be on cpu:0". */
static void a_buffer_on_another_device_is_named_with_both(void)
{
    cyxla_buffer *out = NULL;
    cyxla_call *call = NULL;
    cyxla_executable *e = compiled(DOUBLE_F32_4);
    cyxla_buffer *elsewhere = four_on(1);
    const cyxla_buffer *inputs[] = {elsewhere};
    cyxla_buffer *here = NULL;

    CHECK_FAILS(cyxla_execute(e, inputs, 1, &out, 1), CYXLA_CODE_INVALID_ARGUMENT, "argument 0", "is on device 1",
                "runs on device 0");
    CHECK(out == NULL);
    if (CHECK_OK(cyxla_call_new(e, NULL, &call)))
        CHECK_FAILS(cyxla_call_bind(call, 0, 0, elsewhere), CYXLA_CODE_INVALID_ARGUMENT, "input 0", "device 1",
                    "runs on device 0");
    CHECK_OK(cyxla_buffer_copy_to(elsewhere, 0, NULL, &here));
    doubles(e, here);
    cyxla_call_free(call);
    cyxla_buffer_free(here);
    cyxla_buffer_free(elsewhere);
    cyxla_executable_free(e);
}

int main(int argc, char **argv)
{
    test_start(argc, argv, NULL);
    RUN(one_client_whatever_is_asked_for_later);
    RUN(another_plugin_changes_nothing);
    RUN(a_buffer_on_another_device_is_named_with_both);
    return test_end();
}
