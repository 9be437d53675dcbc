/* Shows that the header and the library that was found belong together. */
#include <cyxla.h>

#include <stdio.h>

int main(void)
{
    cyxla_options *options = cyxla_options_new();
    cyxla_error *error = cyxla_options_parse(options, "cpu_device_count=2");
    size_t count = cyxla_options_count(options);

    printf("cyxla %s\n", cyxla_version());
    if (error != NULL)
        fprintf(stderr, "%s\n", cyxla_error_message(error));
    cyxla_error_free(error);
    cyxla_options_free(options);
    return error == NULL && count == 1 && cyxla_version_number() == CYXLA_VERSION ? 0 : 1;
}
