/* fuzz_json.c - any bytes, read as JSON or JSON Lines: one grammar for both. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_read(bytes, size, "json");
    return 0;
}
