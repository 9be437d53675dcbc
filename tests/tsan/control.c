/* Races that ThreadSanitizer has to report: else the runs without a report say nothing.
 *
 *     control host      two threads write a variable of this program
 *     control library   two threads change one set of options, which is for one at a time
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cyxla.h>

static int64_t variable;
static cyxla_options *options;
static pthread_barrier_t line;

static void *write_variable(void *value)
{
    pthread_barrier_wait(&line);
    variable = (int64_t)(intptr_t)value;
    return NULL;
}

static void *set_option(void *value)
{
    pthread_barrier_wait(&line);
    cyxla_error_free(cyxla_options_set_int(options, "number", (int64_t)(intptr_t)value));
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    void *(*race)(void *) = argc == 2 && strcmp(argv[1], "host") == 0 ? write_variable : set_option;

    pthread_barrier_init(&line, NULL, 2);
    options = cyxla_options_new();
    /* The number is in its place already, so that the race only writes over it. */
    cyxla_error_free(cyxla_options_set_int(options, "number", 0));
    for (intptr_t i = 0; i < 2; i++) {
        if (pthread_create(&threads[i], NULL, race, (void *)(i + 1)) != 0)
            return 2;
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%lld\n", (long long)(variable + cyxla_options_get_int(options, 0)));
    cyxla_options_free(options);
    return 0;
}
