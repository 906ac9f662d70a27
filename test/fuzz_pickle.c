/* fuzz_pickle.c - any bytes, read as a pickle. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_read(bytes, size, "pickle");
    return 0;
}
