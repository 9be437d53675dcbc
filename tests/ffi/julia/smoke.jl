# Calls libcyxla through ccall, with nothing in between: 100 tasks that initialize, compile, run and read an error.
const cyxla, TASKS = "libcyxla.so.0", 100
const Handle, Sizes, List = Ptr{Cvoid}, Ptr{Csize_t}, Ptr{Ptr{Cvoid}}
const TEXT = """
func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %sum = stablehlo.add %a, %b : tensor<4xf32>
  return %sum : tensor<4xf32>
}"""

message(error) = unsafe_string(ccall((:cyxla_error_message, cyxla), Cstring, (Handle,), error))

# A task returns what went wrong: to throw it would need an unwinder that Julia 1.5 lacks on some systems.
macro expect(ok, got) :($(esc(ok)) || return string($(esc(got)))) end
macro succeed(call) :(error = $(esc(call)); error == C_NULL || return message(error)) end

function work(number)
    options = ccall((:cyxla_options_new, cyxla), Handle, ())
    @succeed(ccall((:cyxla_options_set_int, cyxla), Handle, (Handle, Cstring, Int64), options, "cpu_device_count", 1))
    @succeed(ccall((:cyxla_options_set_bool, cyxla), Handle, (Handle, Cstring, Bool), options, "asynchronous", false))
    info, program, executable = Ref(C_NULL), Ref(C_NULL), Ref(C_NULL)
    @succeed(ccall((:cyxla_initialize, cyxla), Handle, (Cstring, Cstring, Handle, List), C_NULL, C_NULL, options, info))
    device_count = ccall((:cyxla_runtime_info_device_count, cyxla), Csize_t, (Handle,), info[])
    @expect(device_count == 1, device_count)
    @succeed(ccall((:cyxla_program_from_bytes, cyxla), Handle, (Ptr{UInt8}, Csize_t, Int32, Cstring, List),
        TEXT, sizeof(TEXT), 0, C_NULL, program))
    @succeed(ccall((:cyxla_compile_program, cyxla), Handle, (Handle, Handle, List), program[], C_NULL, executable))

    a, b, sum = Float32[1, 2, 3, number], Float32[10, 20, 30, 40], zeros(Float32, 4)
    GC.@preserve a b sum begin
        inputs, outputs = Ptr{Cvoid}[pointer(a), pointer(b)], Ptr{Cvoid}[pointer(sum)]
        sizes = Csize_t[16, 16]
        @succeed(ccall((:cyxla_run, cyxla), Handle, (Handle, List, Sizes, Csize_t, List, Sizes, Csize_t),
            executable[], inputs, sizes, 2, outputs, sizes, 1))
    end
    @expect(sum == Float32[11, 22, 33, number + 40], sum)

    typo = ccall((:cyxla_options_new, cyxla), Handle, ())
    @succeed(ccall((:cyxla_options_set_int, cyxla), Handle, (Handle, Cstring, Int64), typo, "device$number", 0))
    error = ccall((:cyxla_compile_program, cyxla), Handle, (Handle, Handle, List), program[], typo, Ref(C_NULL))
    code = ccall((:cyxla_error_code, cyxla), Int32, (Handle,), error)
    @expect(unsafe_string(ccall((:cyxla_code_name, cyxla), Cstring, (Int32,), code)) == "INVALID_ARGUMENT", code)
    @expect(occursin("'device$number'", message(error)), message(error))  # this task's error, not another's
    hint = unsafe_string(ccall((:cyxla_error_detail, cyxla), Cstring, (Handle, Cstring), error, "hint"))
    @expect(occursin("'device'", hint), hint)
    ccall((:cyxla_error_free, cyxla), Cvoid, (Handle,), error)
    ccall((:cyxla_executable_free, cyxla), Cvoid, (Handle,), executable[])
    ccall((:cyxla_program_free, cyxla), Cvoid, (Handle,), program[])
    foreach(o -> ccall((:cyxla_options_free, cyxla), Cvoid, (Handle,), o), (options, typo))
    nothing
end

failures = filter(!isnothing, fetch.([Threads.@spawn(work(number)) for number in 0:TASKS - 1]))
isempty(failures) || (println(stderr, "unexpected: ", first(failures)); exit(1))
println("ok julia: $TASKS tasks on $(Threads.nthreads()) threads")
