/* tsan_control.c - two programs that tell whether tools/check-tsan sees races: -Drace has one, -Dno_race has none. */
#include <stdio.h>

int main(void)
{
    long sum = 0, share[64] = {0};
#pragma omp parallel for
    for (int i = 0; i < 64; i++) {
        share[i] = i;
#ifdef race
        sum += i;
#endif
    }
    for (int i = 0; i < 64; i++) sum += share[i]; /* after the loop's barrier: no race */
    printf("%s\n", sum ? "done" : "");
    return 0;
}
