#include "crowd.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

static pthread_barrier_t line;

void together_in(size_t count, void *(*function)(void *number))
{
    pthread_t threads[THREADS];

    if (count > THREADS || pthread_barrier_init(&line, NULL, (unsigned)count) != 0)
        abort();
    for (uintptr_t i = 0; i < count; i++) {
        if (pthread_create(&threads[i], NULL, function, (void *)i) != 0)
            abort();
    }
    for (size_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&line);
}

void together(void *(*function)(void *number))
{
    together_in(THREADS, function);
}

void line_up(void)
{
    pthread_barrier_wait(&line);
}
