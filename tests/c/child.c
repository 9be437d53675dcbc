#include "child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "test.h"

extern char **environ;

/* Generous: the machine may be busy, and valgrind is slow. */
#define TIME_LIMIT_MS 60000

static bool names(const char *entry, const char *setting)
{
    size_t length = strcspn(setting, "=");

    return strncmp(entry, setting, length) == 0 && entry[length] == '=';
}

/* The environment with the settings applied; the strings are borrowed. */
static const char **changed_environment(const char *const *settings)
{
    size_t count = 0;
    size_t added = 0;
    while (environ[count])
        count++;
    while (settings[added])
        added++;
    const char **changed = calloc(count + added + 1, sizeof *changed);
    if (!changed)
        abort();
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        bool replaced = false;
        for (size_t j = 0; j < added; j++)
            replaced = replaced || names(environ[i], settings[j]);
        if (!replaced)
            changed[kept++] = environ[i];
    }
    for (size_t j = 0; j < added; j++) {
        if (strchr(settings[j], '='))
            changed[kept++] = settings[j];
    }
    return changed;
}

static long long now_ms(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (long long)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* Collects the output until the pipe closes or the time is up. */
static void collect(struct child *child, int pipe_end)
{
    long long deadline = now_ms() + TIME_LIMIT_MS;
    size_t used = 0;
    char piece[4096];

    for (;;) {
        struct pollfd waited = {pipe_end, POLLIN, 0};
        long long left = deadline - now_ms();
        int ready = left > 0 ? poll(&waited, 1, (int)left) : 0;
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0) {
            child->timed_out = true;
            return;
        }
        ssize_t got = read(pipe_end, piece, sizeof piece);
        if (got <= 0)
            return;
        size_t room = sizeof child->output - 1 - used;
        size_t take = (size_t)got < room ? (size_t)got : room;
        memcpy(child->output + used, piece, take);
        used += take;
    }
}

void child_run(struct child *child, const char *mode, const char *const *settings)
{
    int ends[2];
    int status = 0;
    pid_t pid;
    posix_spawn_file_actions_t actions;
    const char **changed = changed_environment(settings);
    /* posix_spawn takes non-const strings that it does not write to. */
    union {
        const char *const *borrowed;
        char *const *taken;
    } arguments = {(const char *const[]){test_program(), mode, NULL}}, variables = {changed};

    memset(child, 0, sizeof *child);
    child->exit_code = -1;
    if (pipe(ends) != 0)
        abort();
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    int failure = posix_spawn(&pid, test_program(), &actions, NULL, arguments.taken, variables.taken);
    posix_spawn_file_actions_destroy(&actions);
    free(changed);
    close(ends[1]);
    if (failure) {
        snprintf(child->output, sizeof child->output, "cannot start %s: %s", test_program(), strerror(failure));
        close(ends[0]);
        return;
    }
    collect(child, ends[0]);
    close(ends[0]);
    if (child->timed_out)
        kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status))
        child->exit_code = WEXITSTATUS(status);
    else
        child->signal = WTERMSIG(status);
}

bool child_passes(const char *file, int line, const char *mode, const char *const *settings)
{
    struct child child;

    child_run(&child, mode, settings);
    bool holds = test_true(file, line, "the child ended in time", !child.timed_out);
    holds = test_int(file, line, "the signal that killed the child", child.signal, 0) && holds;
    holds = test_int(file, line, "the child's exit code", child.exit_code, 0) && holds;
    if (!holds)
        printf("--- mode %s said:\n%s---\n", mode, child.output);
    return holds;
}
