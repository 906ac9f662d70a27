/* describe.c - names and counts the sequences of events.csv.
   cc describe.c $(pkg-config --cflags --libs smurf) -o describe */
#include <smurf.h>
#include <stdio.h>

int main(void)
{
    smurf_error err;
    smurf_data *data;
    if (smurf_data_read(&data, "events.csv", NULL, &err)) {
        puts(err.message);
        return 1;
    }
    for (size_t i = 0; i < smurf_data_sequences(data); i++) {
        const smurf_sequence *s = smurf_data_sequence(data, i);
        printf("%s: %zu events\n", s->name ? s->name : "-", s->length);
    }
    smurf_data_free(data);
    return 0;
}
