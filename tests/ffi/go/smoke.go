// Smoke calls libcyxla through cgo, with nothing in between: 100 goroutines that initialize, compile, run and read an error.
package main

/*
#cgo pkg-config: cyxla
#include <cyxla.h>
#include <stdlib.h>
*/
import "C"

import (
	"fmt"
	"os"
	"strings"
	"unsafe"
)

const (
	goroutines = 100
	text       = `func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %sum = stablehlo.add %a, %b : tensor<4xf32>
  return %sum : tensor<4xf32>
}`
)

var cpuDeviceCount, asynchronous, hint = C.CString("cpu_device_count"), C.CString("asynchronous"), C.CString("hint")

func succeed(e *C.cyxla_error) {
	if e != nil {
		panic(C.GoString(C.cyxla_error_message(e)))
	}
}

func expect(ok bool, got any) {
	if !ok {
		panic(fmt.Sprint("unexpected: ", got))
	}
}

func work(number int) {
	options := C.cyxla_options_new()
	succeed(C.cyxla_options_set_int(options, cpuDeviceCount, 1))
	succeed(C.cyxla_options_set_bool(options, asynchronous, false))
	var info *C.cyxla_runtime_info
	succeed(C.cyxla_initialize(nil, nil, options, &info))
	expect(C.cyxla_runtime_info_device_count(info) == 1, C.cyxla_runtime_info_device_count(info))
	var program *C.cyxla_program
	source := []byte(text)
	succeed(C.cyxla_program_from_bytes(unsafe.Pointer(&source[0]), C.size_t(len(source)), C.CYXLA_FORMAT_DETECT, nil, &program))
	var executable *C.cyxla_executable
	succeed(C.cyxla_compile_program(program, nil, &executable))

	// The lists hold pointers, so what they point to is C's memory: cgo allows no Go pointers in there.
	arrays := (*[3][4]float32)(C.malloc(3 * 16))
	arrays[0], arrays[1] = [4]float32{1, 2, 3, float32(number)}, [4]float32{10, 20, 30, 40}
	inputs := []unsafe.Pointer{unsafe.Pointer(&arrays[0]), unsafe.Pointer(&arrays[1])}
	outputs := []unsafe.Pointer{unsafe.Pointer(&arrays[2])}
	sizes := []C.size_t{16, 16}
	succeed(C.cyxla_run(executable, &inputs[0], &sizes[0], 2, &outputs[0], &sizes[0], 1))
	expect(arrays[2] == [4]float32{11, 22, 33, float32(number) + 40}, arrays[2])

	typo, key := C.cyxla_options_new(), fmt.Sprint("device", number)
	wrongKey := C.CString(key)
	succeed(C.cyxla_options_set_int(typo, wrongKey, 0))
	var none *C.cyxla_executable
	e := C.cyxla_compile_program(program, typo, &none)
	message := C.GoString(C.cyxla_error_message(e))
	expect(C.cyxla_error_code(e) == C.CYXLA_CODE_INVALID_ARGUMENT, message)
	expect(strings.Contains(message, "'"+key+"'"), message) // this goroutine's error, not another's
	expect(strings.Contains(C.GoString(C.cyxla_error_detail(e, hint)), "'device'"), message)
	C.free(unsafe.Pointer(wrongKey))
	C.cyxla_options_free(typo)
	C.cyxla_error_free(e)
	C.free(unsafe.Pointer(arrays))
	C.cyxla_executable_free(executable)
	C.cyxla_program_free(program)
	C.cyxla_options_free(options)
}

func main() {
	failures := make(chan any, goroutines)
	for i := 0; i < goroutines; i++ {
		go func(number int) {
			defer func() { failures <- recover() }()
			work(number)
		}(i)
	}
	for i := 0; i < goroutines; i++ {
		if failure := <-failures; failure != nil {
			fmt.Fprintln(os.Stderr, failure)
			os.Exit(1)
		}
	}
	fmt.Printf("ok go: %d goroutines\n", goroutines)
}
