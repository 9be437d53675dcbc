// A plugin whose GetPjrtApi throws, which nothing written in C may do.

#include <stdexcept>

extern "C" const void *GetPjrtApi() { throw std::runtime_error("synthetic exception"); }
