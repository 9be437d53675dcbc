#include <stdio.h>

#include "test.h"

static void text_and_number_agree(void)
{
    unsigned major = 0;
    unsigned minor = 0;
    unsigned patch = 0;
    char end = '\0';
    const char *version = cyxla_version();

    CHECK_INT(sscanf(version, "%u.%u.%u%c", &major, &minor, &patch, &end), 3);
    CHECK_INT(cyxla_version_number(), major * 10000 + minor * 100 + patch);
    CHECK(major + minor + patch > 0);
    CHECK_INT(CYXLA_VERSION, cyxla_version_number());
    CHECK_INT(CYXLA_VERSION_MAJOR, major);
    CHECK_INT(CYXLA_VERSION_MINOR, minor);
    CHECK_INT(CYXLA_VERSION_PATCH, patch);
}

static void text_stays_where_it_is(void)
{
    CHECK(cyxla_version() == cyxla_version());
}

int main(int argc, char **argv)
{
    test_start(argc, argv, NULL);
    RUN(text_and_number_agree);
    RUN(text_stays_where_it_is);
    return test_end();
}
