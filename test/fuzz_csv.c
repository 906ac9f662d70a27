/* fuzz_csv.c - any bytes, read as a table. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_read(bytes, size, SMURF_FORMAT_CSV);
    return 0;
}
