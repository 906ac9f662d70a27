/* fuzz_packed.c - packed files: as they are, and with checksums and a size that fit. */
#include "fuzz.h"
#include "packed_seal.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_read(bytes, size, "packed");
    if (size < PACKED_HEADER) return 0;
    uint8_t *mended = malloc(size);
    FUZZ_MUST(mended);
    memcpy(mended, bytes, size);
    memcpy(mended + 16, &size, sizeof size);
    packed_seal(mended, size);
    fuzz_read(mended, size, "packed");
    free(mended);
    return 0;
}
