/* arrays.c - a data set from a program's own arrays.
   cc arrays.c $(pkg-config --cflags --libs smurf) -o arrays */
#include <smurf.h>
#include <stdio.h>

int main(void)
{
    double time[] = {0.5, 1, 2.5, 0.25, 4};
    uint32_t type[] = {1, 0, 1, 0, 0};
    size_t offset[] = {0, 3, 5};
    smurf_error err;
    smurf_data *data;
    smurf_arrays arrays;
    smurf_arrays_init(&arrays);
    arrays.events = 5;
    arrays.time = time;
    arrays.type = type;
    arrays.sequences = 2;
    arrays.offset = offset;
    if (smurf_data_from_arrays(&data, &arrays, &err)) {
        puts(err.message);
        return 1;
    }
    printf("%zu sequences, %zu gaps\n", smurf_data_sequences(data), smurf_data_gaps(data));
    smurf_data_free(data);
    return 0;
}
