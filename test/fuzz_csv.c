/* fuzz_csv.c - any bytes, read as a table. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_read(bytes, size, "csv");
    return 0;
}
