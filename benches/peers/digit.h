/* What the programs that time a start have in common: the image, and the answer. */
#ifndef DIGIT_H
#define DIGIT_H

enum { PIXELS = 64, DIGITS = 10 };

/* Reads the first image of the file: bytes from 0 to 16. */
void read_image(const char *path, float pixels[PIXELS]);

/* Prints the likeliest digit and its probability, at once; then the microseconds of
 * processor time that the process has taken until there. */
void print_digit(const float digits[DIGITS]);

#endif
