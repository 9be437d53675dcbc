/* The header needs nothing before it, and may come twice. */
#include <cyxla.h>
#include <cyxla.h>

int main(void)
{
    cyxla_error *error = (cyxla_error *)0;

    return cyxla_error_code(error) == CYXLA_CODE_OK && cyxla_version_number() > 0 ? 0 : 1;
}
