/* The executable cache: the compile options "cache_dir" and "cache_size", and the
 * variable CYXLA_CACHE_DIR. */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "child.h"
#include "support.h"
#include "test.h"

/* Plugins of 0.106 say a page of text of each program that they load. */
#define QUIET "TF_CPP_MIN_LOG_LEVEL=3"

static cyxla_program *program_of(const char *text)
{
    cyxla_program *program = NULL;

    CHECK_OK(cyxla_program_from_bytes(text, strlen(text), CYXLA_FORMAT_DETECT, NULL, &program));
    return program;
}

/* Compiles with a cache in `folder`, unless that is NULL, and further options. */
static cyxla_error *compile_in(const cyxla_program *program, const char *folder, const char *more,
                               cyxla_executable **out)
{
    cyxla_options *options = cyxla_options_new();

    if (folder)
        CHECK_OK(cyxla_options_set_string(options, "cache_dir", folder));
    CHECK_OK(cyxla_options_parse(options, more));
    cyxla_error *error = cyxla_compile_program(program, options, out);
    cyxla_options_free(options);
    return error;
}

/* Compiles a program with a cache, checks that it computes what it should, and tells
 * whether it came from the cache. */
static bool is_hit(const cyxla_program *program, const char *folder, const char *more)
{
    cyxla_executable *e = NULL;
    cyxla_executable *fresh = NULL;
    bool hit = false;

    if (CHECK_OK(compile_in(program, folder, more, &e)) && CHECK_OK(compile_in(program, "", more, &fresh))) {
        hit = cyxla_executable_is_from_cache(e);
        CHECK(!cyxla_executable_is_from_cache(fresh));
        CHECK(same_executables(e, fresh));
        CHECK(same_results(e, fresh));
    }
    cyxla_executable_free(e);
    cyxla_executable_free(fresh);
    return hit;
}

static bool text_is_hit(const char *text, const char *folder, const char *more)
{
    cyxla_program *program = program_of(text);
    bool hit = is_hit(program, folder, more);

    cyxla_program_free(program);
    return hit;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text);

    return length >= strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}

/* How many files of the cache have names that end so; the last one's path is put into
 * `path`, 4096 bytes, unless that is NULL. */
static int files_in(const char *folder, const char *end, char *path)
{
    char inner[2048];
    int count = 0;

    snprintf(inner, sizeof inner, "%s/cyxla-executables-v1", folder);
    DIR *entries = opendir(inner);
    for (struct dirent *entry; entries && (entry = readdir(entries));) {
        if (!ends_with(entry->d_name, end))
            continue;
        count++;
        if (path)
            snprintf(path, 4096, "%s/%s", inner, entry->d_name);
    }
    if (entries)
        closedir(entries);
    return count;
}

static int entries_in(const char *folder)
{
    return files_in(folder, ".executable", NULL);
}

/* A folder for a cache, that is not there; to be freed by done_with. */
static char *new_folder(const char *name)
{
    char *folder = own_path(name);

    remove_all(folder);
    return folder;
}

static void done_with(char *folder)
{
    remove_all(folder);
    free(folder);
}

/* --- hits and misses --- */

static void the_second_compile_is_a_hit(void)
{
    char *outer = new_folder("second");
    char folder[4096];
    struct stat found;
    char entry[4096] = "";

    snprintf(folder, sizeof folder, "%s/made/on/the way", outer);
    CHECK(!text_is_hit(ADD_F32_4, folder, ""));
    CHECK_INT(entries_in(folder), 1);
    CHECK(text_is_hit(ADD_F32_4, folder, ""));
    CHECK(text_is_hit(ADD_F32_4, folder, ""));
    CHECK_INT(files_in(folder, ".executable", entry), 1);
    CHECK_INT(files_in(folder, "CACHEDIR.TAG", NULL), 1);
    if (CHECK_INT(stat(entry, &found), 0))
        CHECK_INT(found.st_mode & 0777, 0600);
    CHECK(!text_is_hit(ADD_F32_4, "", ""));
    done_with(outer);
}

static void programs_of_all_forms_are_hits(void)
{
    static const char *const names[] = {"exports/trees.jaxexport",         "exports/platforms_x32.jaxexport",
                                        "exports/platforms_x64.jaxexport", "exports/donation.jaxexport",
                                        "exports/dtypes.jaxexport",        "exports/nothing.jaxexport",
                                        "hlo/tuple.pb",                    "names.mlirbc"};
    char *folder = new_folder("forms");

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        cyxla_program *program = fixture_program(names[i]);
        CHECK(!is_hit(program, folder, ""));
        CHECK(is_hit(program, folder, ""));
        cyxla_program_free(program);
    }
    CHECK_INT(entries_in(folder), sizeof names / sizeof *names);
    done_with(folder);
}

static void what_came_from_a_cache_can_be_saved(void)
{
    char *folder = new_folder("saved");
    cyxla_program *program = program_of(ADD_F32_4);
    cyxla_executable *first = NULL;
    cyxla_executable *hit = NULL;
    cyxla_executable *again = NULL;
    cyxla_bytes *bytes = NULL;

    CHECK_OK(compile_in(program, folder, "", &first));
    CHECK_OK(compile_in(program, folder, "", &hit));
    CHECK(cyxla_executable_is_from_cache(hit));
    CHECK_OK(cyxla_executable_to_bytes(hit, &bytes));
    CHECK_OK(cyxla_executable_from_bytes(cyxla_bytes_data(bytes), cyxla_bytes_size(bytes), &again));
    CHECK(!cyxla_executable_is_from_cache(again));
    CHECK(again && same_executables(first, again));
    CHECK(again && same_results(first, again));
    cyxla_bytes_free(bytes);
    cyxla_executable_free(first);
    cyxla_executable_free(hit);
    cyxla_executable_free(again);
    cyxla_program_free(program);
    done_with(folder);
}

static void programs_have_entries_of_their_own(void)
{
    char *folder = new_folder("programs");
    char text[400];

    CHECK(!text_is_hit(ADD_F32_4, folder, ""));
    CHECK(!text_is_hit(DOUBLE_F32_4, folder, ""));
    CHECK(!text_is_hit(DONATED_ADD_F32_4, folder, ""));
    /* One more space. */
    snprintf(text, sizeof text, "%s ", ADD_F32_4);
    CHECK(!text_is_hit(text, folder, ""));
    CHECK_INT(entries_in(folder), 4);
    CHECK(text_is_hit(ADD_F32_4, folder, "") && text_is_hit(DOUBLE_F32_4, folder, ""));
    CHECK(text_is_hit(DONATED_ADD_F32_4, folder, "") && text_is_hit(text, folder, ""));
    done_with(folder);
}

/* They are parts of one file. */
static void gradients_have_entries_of_their_own(void)
{
    char *folder = new_folder("gradients");
    cyxla_program *cube = fixture_program("exports/vjp2.jaxexport");
    cyxla_program *first = NULL;
    cyxla_program *second = NULL;

    CHECK_OK(cyxla_program_vjp(cube, &first));
    CHECK_OK(cyxla_program_vjp(first, &second));
    CHECK(!is_hit(cube, folder, "") && !is_hit(first, folder, "") && !is_hit(second, folder, ""));
    CHECK(is_hit(cube, folder, "") && is_hit(first, folder, "") && is_hit(second, folder, ""));
    CHECK_INT(entries_in(folder), 3);
    cyxla_program_free(cube);
    cyxla_program_free(first);
    cyxla_program_free(second);
    done_with(folder);
}

static void options_have_entries_of_their_own(void)
{
    char *folder = new_folder("options");

    CHECK(!text_is_hit(ADD_F32_4, folder, ""));
    CHECK(!text_is_hit(ADD_F32_4, folder, "portable=true"));
    CHECK(!text_is_hit(ADD_F32_4, folder, "profile_version=3"));
    if (!on_fake_plugin()) {
        CHECK(!text_is_hit(ADD_F32_4, folder, "xla.cpu_enable_fast_math=true"));
        CHECK(!text_is_hit(ADD_F32_4, folder, "xla.cpu_enable_fast_math=false"));
        CHECK(text_is_hit(ADD_F32_4, folder, "xla.xla_cpu_enable_fast_math=true"));
    }
    CHECK(text_is_hit(ADD_F32_4, folder, "portable=true"));
    /* These change nothing of the code. */
    CHECK(text_is_hit(ADD_F32_4, folder, "device=0"));
    CHECK(text_is_hit(ADD_F32_4, folder, "cache_size=1000000"));
    CHECK(text_is_hit(ADD_F32_4, folder, "check_platform=false"));
    done_with(folder);
}

/* In a child with two devices. */
static void devices_have_entries_of_their_own(void)
{
    char *folder = new_folder("devices");

    CHECK(!text_is_hit(ADD_F32_4, folder, "device=0"));
    CHECK(!text_is_hit(ADD_F32_4, folder, "device=1"));
    CHECK(text_is_hit(ADD_F32_4, folder, "device=0"));
    CHECK(text_is_hit(ADD_F32_4, folder, "device=1"));
    CHECK(!text_is_hit(ADD_F32_4, folder, "portable=true"));
    CHECK(!text_is_hit(ADD_F32_4, folder, "portable=true;device=1"));
    CHECK(text_is_hit(ADD_F32_4, folder, "portable=true;device=0"));
    CHECK(text_is_hit(ADD_F32_4, folder, "portable=true;device=1"));
    done_with(folder);
}

/* --- other processes; the folder is in TEST_FOLDER --- */

static void check_miss(void)
{
    const char *folder = getenv("TEST_FOLDER");
    int before = entries_in(folder);

    CHECK(!text_is_hit(ADD_F32_4, folder, ""));
    CHECK_INT(entries_in(folder), before + 1);
    CHECK(text_is_hit(ADD_F32_4, folder, ""));
}

static void check_hit(void)
{
    CHECK(text_is_hit(ADD_F32_4, getenv("TEST_FOLDER"), ""));
}

/* CYXLA_CACHE_DIR names the folder as well. */
static void check_variable(void)
{
    const char *folder = getenv("TEST_FOLDER");
    char *other = new_folder("other");

    CHECK(!text_is_hit(ADD_F32_4, NULL, ""));
    CHECK_INT(entries_in(folder), 1);
    CHECK(text_is_hit(ADD_F32_4, NULL, ""));
    /* The option goes before the variable, and empty turns the cache off. */
    CHECK(!text_is_hit(ADD_F32_4, "", ""));
    CHECK(!text_is_hit(DOUBLE_F32_4, "", ""));
    CHECK(!text_is_hit(ADD_F32_4, other, ""));
    CHECK(text_is_hit(ADD_F32_4, other, ""));
    CHECK_INT(entries_in(folder), 1);
    CHECK_INT(entries_in(other), 1);
    done_with(other);
}

/* CYXLA_CACHE_DIR names no good folder. */
static void check_bad_variable(void)
{
    CHECK(!text_is_hit(ADD_F32_4, NULL, ""));
    CHECK(!text_is_hit(ADD_F32_4, NULL, ""));
    CHECK(alive());
}

static void the_variable_turns_it_on(void)
{
    char *folder = new_folder("variable");
    char variable[4096];
    char named[4096];

    snprintf(variable, sizeof variable, "CYXLA_CACHE_DIR=%s", folder);
    snprintf(named, sizeof named, "TEST_FOLDER=%s", folder);
    CHECK_CHILD("variable", variable, named, QUIET);
    CHECK_CHILD("bad-variable", "CYXLA_CACHE_DIR=", QUIET);
    CHECK_CHILD("bad-variable", "CYXLA_CACHE_DIR=/dev/null/folder", QUIET);
    done_with(folder);
}

static void another_process_hits(void)
{
    char *folder = new_folder("process");
    char named[4096];
    char record[4096] = "";

    snprintf(named, sizeof named, "TEST_FOLDER=%s", folder);
    CHECK(!text_is_hit(ADD_F32_4, folder, ""));
    CHECK_CHILD("hit", named, QUIET);
    /* What is known of the plugin only saves time. */
    if (files_in(folder, ".plugin", record) > 0) {
        write_file(record, "damaged", 7);
        CHECK_CHILD("hit", named, QUIET);
        remove_all(record);
        CHECK_CHILD("hit", named, QUIET);
    }
    done_with(folder);
}

static void other_surroundings_miss(void)
{
    char *folder = new_folder("surroundings");
    char named[4096];
    char plugin[4096];

    snprintf(named, sizeof named, "TEST_FOLDER=%s", folder);
    CHECK(!text_is_hit(ADD_F32_4, folder, ""));
    CHECK_CHILD("miss", named, "CYXLA_OPTIONS=cpu_device_count=2", QUIET);
    CHECK_CHILD("miss", named, "NPROC=3", QUIET);
    CHECK_CHILD("devices", "CYXLA_OPTIONS=cpu_device_count=2", QUIET);
    if (on_fake_plugin()) {
        CHECK_CHILD("miss", named, "CYXLA_FAKE_PLUGIN=api_minor=114");
        CHECK_CHILD("miss", named, "CYXLA_FAKE_PLUGIN=platform=abacus");
    } else {
        snprintf(plugin, sizeof plugin, "CYXLA_PLUGIN=%s", getenv("CYXLA_TEST_OTHER_PLUGIN"));
        CHECK_CHILD("miss", named, plugin, QUIET);
        CHECK_CHILD("miss", named, "XLA_FLAGS=--xla_cpu_enable_fast_math=true", QUIET);
    }
    CHECK_CHILD("hit", named, QUIET);
    done_with(folder);
}

/* --- damage --- */

/* The entry has to be a miss and then be replaced. */
static void check_replaced(const char *folder, const char *how)
{
    char path[4096] = "";
    struct stat found;

    if (!CHECK(!text_is_hit(ADD_F32_4, folder, "")) || !CHECK(text_is_hit(ADD_F32_4, folder, "")))
        printf("that was an entry that is %s\n", how);
    CHECK_INT(files_in(folder, ".executable", path), 1);
    CHECK(lstat(path, &found) == 0 && S_ISREG(found.st_mode) && (found.st_mode & 0777) == 0600);
}

static void a_damaged_entry_is_replaced(void)
{
    char *folder = new_folder("damaged");
    char path[4096] = "";
    size_t size = 0;

    CHECK(!text_is_hit(ADD_F32_4, folder, ""));
    if (!CHECK_INT(files_in(folder, ".executable", path), 1))
        return;
    unsigned char *good = read_file(path, &size);
    for (size_t i = 0; good && i < 10; i++) {
        size_t at = i < 6 ? i * 11 : i * size / 10;
        good[at] ^= (unsigned char)(1U << i % 8);
        write_file(path, good, size);
        good[at] ^= (unsigned char)(1U << i % 8);
        check_replaced(folder, "changed");
    }
    for (size_t i = 0; good && i < 2; i++) {
        write_file(path, good, i * size / 2);
        check_replaced(folder, "cut short");
    }
    write_file(path, "a text\n", 7);
    check_replaced(folder, "no saved executable");
    free(good);
    done_with(folder);
}

/* Whatever takes an entry's place, it is not run. */
static void what_is_no_entry_of_this_key_is_replaced(void)
{
    char *folder = new_folder("planted");
    char path[4096] = "";
    char other[4200];
    size_t size = 0;

    CHECK(!text_is_hit(ADD_F32_4, folder, ""));
    CHECK_INT(files_in(folder, ".executable", path), 1);
    /* A saved executable of the same program, but not from this place. */
    cyxla_executable *e = compiled(ADD_F32_4);
    cyxla_bytes *bytes = NULL;
    CHECK_OK(cyxla_executable_to_bytes(e, &bytes));
    write_file(path, cyxla_bytes_data(bytes), cyxla_bytes_size(bytes));
    check_replaced(folder, "a saved executable without a key");
    cyxla_bytes_free(bytes);
    cyxla_executable_free(e);
    /* The entry of another program. */
    char *donor = new_folder("donor");
    CHECK(!text_is_hit(DOUBLE_F32_4, donor, ""));
    CHECK_INT(files_in(donor, ".executable", other), 1);
    void *foreign = read_file(other, &size);
    write_file(path, foreign, size);
    check_replaced(folder, "another program's");
    free(foreign);
    done_with(donor);
    /* A file that everybody may write to, and a link to a good entry. */
    CHECK_INT(chmod(path, 0666), 0);
    check_replaced(folder, "everybody's to change");
    snprintf(other, sizeof other, "%s.moved", path);
    CHECK_INT(rename(path, other), 0);
    CHECK_INT(symlink(other, path), 0);
    check_replaced(folder, "a link");
    done_with(folder);
}

/* --- folders that are no good --- */

static void without_a_usable_folder_programs_are_compiled(void)
{
    static const char *const folders[] = {"/dev/null", "/dev/null/below", "/proc/nothing/here", "/sys/kernel"};
    char *file = new_folder("file");
    char name[600];

    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        CHECK(!text_is_hit(ADD_F32_4, folders[i], "") && !text_is_hit(ADD_F32_4, folders[i], ""));
    write_file(file, "not a folder", 12);
    CHECK(!text_is_hit(ADD_F32_4, file, ""));
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    CHECK(!text_is_hit(ADD_F32_4, name, ""));
    done_with(file);
    CHECK(alive_and_compiles());
}

static void a_folder_that_can_only_be_read_gives_what_is_in_it(void)
{
    char *folder = new_folder("read-only");
    char inner[4096];

    CHECK(!text_is_hit(ADD_F32_4, folder, ""));
    snprintf(inner, sizeof inner, "%s/cyxla-executables-v1", folder);
    CHECK_INT(chmod(inner, 0500), 0);
    CHECK(text_is_hit(ADD_F32_4, folder, ""));
    /* To the superuser every folder can be written to. */
    if (geteuid() != 0) {
        CHECK(!text_is_hit(DOUBLE_F32_4, folder, ""));
        CHECK_INT(entries_in(folder), 1);
    }
    CHECK_INT(chmod(inner, 0700), 0);
    done_with(folder);
}

static void a_folder_may_vanish(void)
{
    char *folder = new_folder("vanishing");

    for (int i = 0; i < 3; i++) {
        CHECK(!text_is_hit(ADD_F32_4, folder, ""));
        CHECK(text_is_hit(ADD_F32_4, folder, ""));
        remove_all(folder);
    }
    free(folder);
}

/* --- the size --- */

/* A program of its own for each number. */
static const char *numbered(int number)
{
    static char text[400];

    snprintf(text, sizeof text,
             "module @numbered_%d { func.func public @main(%%a: tensor<%dxf32>) -> tensor<%dxf32> {\n"
             "  %%0 = stablehlo.add %%a, %%a : tensor<%dxf32>\n"
             "  return %%0 : tensor<%dxf32> } }\n",
             number, number + 1, number + 1, number + 1, number + 1);
    return text;
}

static void a_cache_keeps_to_its_size(void)
{
    char *folder = new_folder("size");
    char path[4096] = "";
    char limit[64];
    struct stat entry;

    CHECK(!text_is_hit(ADD_F32_4, folder, "cache_size=0"));
    CHECK(!text_is_hit(ADD_F32_4, folder, "cache_size=0"));
    CHECK(!text_is_hit(ADD_F32_4, folder, "cache_size=500"));
    CHECK_INT(entries_in(folder), 0);
    CHECK(!text_is_hit(ADD_F32_4, folder, ""));
    CHECK_INT(files_in(folder, ".executable", path), 1);
    if (!CHECK_INT(stat(path, &entry), 0))
        return;
    snprintf(limit, sizeof limit, "cache_size=%lld", (long long)entry.st_size * 4);
    for (int i = 0; i < 12; i++) {
        CHECK(!text_is_hit(numbered(i), folder, limit));
        CHECK(entries_in(folder) >= 1 && entries_in(folder) <= 6);
    }
    /* The last one is there, the first ones are gone. */
    CHECK(text_is_hit(numbered(11), folder, limit));
    CHECK(!text_is_hit(numbered(0), folder, limit));
    done_with(folder);
}

/* --- many at once --- */

static const char *shared_folder;

static void *compile_repeatedly(void *number)
{
    int hits = 0;

    (void)number;
    for (int i = 0; i < 4; i++)
        hits += text_is_hit(ADD_F32_4, shared_folder, "");
    CHECK(hits >= 3);
    return NULL;
}

static void threads_compile_at_once(void)
{
    char *folder = new_folder("threads");
    pthread_t threads[8];

    shared_folder = folder;
    for (size_t i = 0; i < 8; i++) {
        if (pthread_create(&threads[i], NULL, compile_repeatedly, NULL) != 0)
            abort();
    }
    for (size_t i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    CHECK_INT(entries_in(folder), 1);
    CHECK_INT(files_in(folder, "unfinished", NULL), 0);
    CHECK(text_is_hit(ADD_F32_4, folder, ""));
    done_with(folder);
}

/* In a child: others do the same at the same time. */
static void compile_many(void)
{
    const char *folder = getenv("TEST_FOLDER");

    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 4; i++) {
            text_is_hit(numbered(i), folder, "");
            text_is_hit(ADD_F32_4, folder, "");
        }
    }
}

static void *run_child(void *setting)
{
    CHECK_CHILD("many", (const char *)setting, QUIET);
    return NULL;
}

static void processes_compile_at_once(void)
{
    char *folder = new_folder("processes");
    char named[4096];
    pthread_t threads[4];

    snprintf(named, sizeof named, "TEST_FOLDER=%s", folder);
    for (size_t i = 0; i < 4; i++) {
        if (pthread_create(&threads[i], NULL, run_child, named) != 0)
            abort();
    }
    for (size_t i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    CHECK_INT(entries_in(folder), 5);
    for (int i = 0; i < 4; i++)
        CHECK(text_is_hit(numbered(i), folder, ""));
    done_with(folder);
}

static void *kill_this_process(void *nanoseconds)
{
    const struct timespec wait = {0, (long)(intptr_t)nanoseconds};

    nanosleep(&wait, NULL);
    raise(SIGKILL);
    return NULL;
}

/* In a child that is killed in the middle of it, wherever that is. */
static void compile_until_killed(void)
{
    pthread_t killer;

    CHECK(alive());
    if (pthread_create(&killer, NULL, kill_this_process, (void *)(intptr_t)atol(getenv("TEST_WAIT"))) != 0)
        abort();
    for (int i = 0; i < 1000000; i++) {
        cyxla_program *program = program_of(numbered(i % 100));
        cyxla_executable *e = NULL;
        CHECK_OK(compile_in(program, getenv("TEST_FOLDER"), "", &e));
        cyxla_executable_free(e);
        cyxla_program_free(program);
    }
}

static void a_killed_process_leaves_a_good_cache(void)
{
    char *folder = new_folder("killed");
    char named[4096];
    char wait[64];

    snprintf(named, sizeof named, "TEST_FOLDER=%s", folder);
    for (int i = 0; i < (on_fake_plugin() ? 8 : 6); i++) {
        struct child child;
        const char *const settings[] = {named, wait, QUIET, NULL};
        snprintf(wait, sizeof wait, "TEST_WAIT=%d", 300000 + i * (on_fake_plugin() ? 487003 : 30487003));
        child_run(&child, "until-killed", settings);
        if (!CHECK_INT(child.signal, SIGKILL))
            printf("the child said:\n%s\n", child.output);
    }
    int kept = entries_in(folder);
    for (int i = 0; i < 8; i++)
        CHECK(text_is_hit(numbered(i), folder, "") == (i < kept));
    done_with(folder);
}

/* --- what goes wrong in a plugin; only the fake one can be made to --- */

static void check_keeps_nothing(void)
{
    const char *folder = getenv("TEST_FOLDER");

    CHECK(!text_is_hit(ADD_F32_4, folder, ""));
    CHECK(!text_is_hit(ADD_F32_4, folder, ""));
    CHECK_INT(entries_in(folder), 0);
}

static void check_never_hits(void)
{
    CHECK(!text_is_hit(ADD_F32_4, getenv("TEST_FOLDER"), ""));
    CHECK(!text_is_hit(ADD_F32_4, getenv("TEST_FOLDER"), ""));
}

static void plugins_that_cannot_save_or_load_compile(void)
{
    char *folder = new_folder("faults");
    char named[4096];

    snprintf(named, sizeof named, "TEST_FOLDER=%s", folder);
    CHECK_CHILD("keeps-nothing", named, "CYXLA_FAKE_PLUGIN=lack=PJRT_Executable_Serialize");
    CHECK_CHILD("keeps-nothing", named, "CYXLA_FAKE_PLUGIN=fail=PJRT_Executable_Serialize");
    CHECK(!text_is_hit(ADD_F32_4, folder, ""));
    CHECK_CHILD("never-hits", named, "CYXLA_FAKE_PLUGIN=lack=PJRT_Executable_DeserializeAndLoad");
    CHECK_CHILD("never-hits", named, "CYXLA_FAKE_PLUGIN=fail=PJRT_Executable_DeserializeAndLoad");
    done_with(folder);
}

int main(int argc, char **argv)
{
    static const struct test_mode modes[] = {
        {"miss", check_miss},
        {"hit", check_hit},
        {"variable", check_variable},
        {"bad-variable", check_bad_variable},
        {"devices", devices_have_entries_of_their_own},
        {"many", compile_many},
        {"until-killed", compile_until_killed},
        {"keeps-nothing", check_keeps_nothing},
        {"never-hits", check_never_hits},
        {NULL, NULL},
    };

    test_start(argc, argv, modes);
    RUN(the_second_compile_is_a_hit);
    RUN(what_came_from_a_cache_can_be_saved);
    RUN(programs_have_entries_of_their_own);
    RUN(options_have_entries_of_their_own);
    RUN(the_variable_turns_it_on);
    RUN(another_process_hits);
    RUN(other_surroundings_miss);
    RUN(a_damaged_entry_is_replaced);
    RUN(what_is_no_entry_of_this_key_is_replaced);
    RUN(without_a_usable_folder_programs_are_compiled);
    RUN(a_folder_that_can_only_be_read_gives_what_is_in_it);
    RUN(a_folder_may_vanish);
    RUN(a_cache_keeps_to_its_size);
    RUN(threads_compile_at_once);
    RUN(processes_compile_at_once);
    RUN(a_killed_process_leaves_a_good_cache);
    if (on_fake_plugin()) {
        RUN(plugins_that_cannot_save_or_load_compile);
    } else {
        RUN(programs_of_all_forms_are_hits);
        RUN(gradients_have_entries_of_their_own);
    }
    return test_end();
}
