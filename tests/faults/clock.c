/* Tells the processes that load it another time of day, so many seconds beside the true one as the file says that
   CLOCK_FILE names: a number of 64 bits, which may change while they run. The monotonic clock stays as it is. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t none, *offset = &none;
static int (*true_clock)(clockid_t, struct timespec *);

__attribute__((constructor)) static void begin(void)
{
    const char *name = getenv("CLOCK_FILE");
    int file = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
    void *mapped = file < 0 ? MAP_FAILED : mmap(NULL, sizeof none, PROT_READ, MAP_SHARED, file, 0);
    if (mapped != MAP_FAILED)
        offset = mapped;
    if (file >= 0)
        close(file);
}

int clock_gettime(clockid_t clock, struct timespec *at)
{
    if (!true_clock)
        true_clock = dlsym(RTLD_NEXT, "clock_gettime");
    int result = true_clock(clock, at);
    if (!result && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        at->tv_sec += *offset;
    return result;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    at->tv_sec = now.tv_sec;
    at->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *at)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (at)
        *at = now.tv_sec;
    return now.tv_sec;
}
