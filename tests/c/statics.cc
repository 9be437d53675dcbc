/* C++ destroys static objects after main has returned, some of them after what the
 * plugin has: freeing there is harmless. */
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <cyxla.h>

#ifdef __clang__
/* That is what this is about. */
#pragma clang diagnostic ignored "-Wexit-time-destructors"
#pragma clang diagnostic ignored "-Wglobal-constructors"
#endif

namespace {

const char PROGRAM[] = "module @double { func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
                       "  %0 = stablehlo.add %a, %a : tensor<4xf32>\n"
                       "  return %0 : tensor<4xf32> } }\n";

void check(cyxla_error *error)
{
    if (!error)
        return;
    std::printf("%s\n", cyxla_error_message(error));
    std::_Exit(1);
}

/* One of each thing, freed when it goes. */
class Things {
  public:
    Things() = default;
    Things(const Things &) = delete;
    Things &operator=(const Things &) = delete;
    ~Things()
    {
        cyxla_buffer_free(buffer);
        cyxla_call_free(call);
        cyxla_executable_free(executable);
        cyxla_program_free(program);
        cyxla_options_free(options);
    }

    void make()
    {
        const int64_t dims[] = {4};
        const float data[] = {1, 2, 3, 4};

        options = cyxla_options_new();
        check(cyxla_program_from_bytes(PROGRAM, std::strlen(PROGRAM), CYXLA_FORMAT_DETECT, nullptr, &program));
        check(cyxla_compile_program(program, options, &executable));
        check(cyxla_buffer_from_host(0, CYXLA_DTYPE_F32, dims, 1, nullptr, data, &buffer));
        check(cyxla_call_new(executable, nullptr, &call));
        check(cyxla_call_bind(call, 0, 0, buffer));
        check(cyxla_call_run(call));
        check(cyxla_call_start(call)); /* nobody waits for it */
    }

  private:
    cyxla_options *options = nullptr;
    cyxla_program *program = nullptr;
    cyxla_executable *executable = nullptr;
    cyxla_call *call = nullptr;
    cyxla_buffer *buffer = nullptr;
};

/* Made before the plugin is loaded, so that it outlives the plugin's own statics. */
Things older;

Things &younger()
{
    static Things things;

    return things;
}

} /* namespace */

int main()
{
    older.make();
    younger().make();
    return 0;
}
