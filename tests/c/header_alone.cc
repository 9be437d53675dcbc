/* The header needs nothing before it in C++ either, and may come twice. */
#include <cyxla.h>
#include <cyxla.h>

int main()
{
    cyxla_error *error = cyxla_options_set_bool(nullptr, "a", true);
    bool refused = cyxla_error_code(error) == CYXLA_CODE_INVALID_ARGUMENT;

    cyxla_error_free(error);
    return refused ? 0 : 1;
}
