#define _POSIX_C_SOURCE 200809L

#include "digit.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void read_image(const char *path, float pixels[PIXELS])
{
    unsigned char bytes[PIXELS];
    FILE *file = fopen(path, "rb");

    if (!file || fread(bytes, 1, sizeof bytes, file) != sizeof bytes) {
        perror(path);
        exit(1);
    }
    fclose(file);
    for (int i = 0; i < PIXELS; i++)
        pixels[i] = (float)bytes[i];
}

void print_digit(const float digits[DIGITS])
{
    struct timespec taken;
    int best = 0;

    for (int i = 1; i < DIGITS; i++)
        best = digits[i] > digits[best] ? i : best;
    printf("%d %.3f\n", best, (double)digits[best]);
    fflush(stdout);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &taken);
    printf("%ld\n", taken.tv_sec * 1000000L + taken.tv_nsec / 1000);
}
