/* fuzz_replay.c - runs a fuzzer once over each file of a folder, without libFuzzer, so that the seeds and all inputs
   that ever broke a reader are tried by every test run. */
#include "fuzz.h"

#include <dirent.h>

static void replay(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    FUZZ_MUST(file && fseek(file, 0, SEEK_END) == 0);
    long size = ftell(file);
    FUZZ_MUST(size >= 0);
    rewind(file);
    uint8_t *bytes = malloc((size_t)size); /* not a byte more, so that a sanitizer sees reads past the end */
    FUZZ_MUST((bytes || !size) && fread(bytes, 1, (size_t)size, file) == (size_t)size);
    fclose(file);
    LLVMFuzzerTestOneInput(bytes, (size_t)size);
    free(bytes);
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

int main(int argc, char **argv)
{
    struct dirent **entry;
    int count = argc == 2 ? scandir(argv[1], &entry, is_visible, alphasort) : -1;
    FUZZ_MUST(count > 0);
    printf("1..%d\n", count);
    for (int i = 0; i < count; i++) {
        replay(argv[1], entry[i]->d_name);
        printf("ok %d - %s\n", i + 1, entry[i]->d_name);
        fflush(stdout); /* what was well must show, should the next one abort */
        free(entry[i]);
    }
    free(entry);
    return 0;
}
