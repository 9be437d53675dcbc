// The same from C++: an error is an object to look into and to free.
#include <cyxla.h>

#include <iostream>

int main()
{
    cyxla_program *program = nullptr;
    cyxla_error *error = cyxla_program_from_bytes("", 0, CYXLA_FORMAT_DETECT, nullptr, &program);
    const cyxla_code code = cyxla_error_code(error);

    std::cout << cyxla_code_name(code) << ": " << cyxla_error_message(error) << '\n';
    cyxla_error_free(error);
    return code == CYXLA_CODE_INVALID_ARGUMENT && program == nullptr ? 0 : 1;
}
