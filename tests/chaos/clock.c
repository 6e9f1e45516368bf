/* A wall clock that can be set for the processes of one trial: preloaded, it adds the seconds that stand in the
   8-byte file named by CHAOS_CLOCK to the real time, and to the times of files as those processes see them (not with
   CHAOS_CLOCK_FILES=as-they-are: then what was written before the clock was set keeps its time).
   Steady clocks are left alone. Only for tests: no machine's clock is touched. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile const int64_t *offset;
static int shifts_files;

__attribute__((constructor)) static void look(void) {
    const char *path = getenv("CHAOS_CLOCK");
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0) return;
    void *seen = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, fd, 0);
    if (seen != MAP_FAILED) offset = seen;
    close(fd);
    shifts_files = getenv("CHAOS_CLOCK_FILES") == NULL;
}

static int64_t off(void) { return offset ? *offset : 0; }

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int clock_gettime(clockid_t id, struct timespec *t) {
    static __typeof__(&clock_gettime) real;
    if (!real) real = REAL(clock_gettime);
    int rc = real(id, t);
    if (rc == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) t->tv_sec += off();
    return rc;
}

time_t time(time_t *where) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    if (where) *where = t.tv_sec;
    return t.tv_sec;
}

int gettimeofday(struct timeval *restrict t, void *restrict zone) {
    (void)zone;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    t->tv_sec = now.tv_sec;
    t->tv_usec = now.tv_nsec / 1000;
    return 0;
}

#define SHIFTED(buf) ((buf)->st_atim.tv_sec += off(), (buf)->st_mtim.tv_sec += off(), (buf)->st_ctim.tv_sec += off())
#define WRAP(name, params, args)                                         \
    int name params {                                                    \
        static int (*real) params;                                       \
        if (!real) real = (int (*) params)dlsym(RTLD_NEXT, #name);       \
        int rc = real args;                                              \
        if (rc == 0 && shifts_files) SHIFTED(buf);                       \
        return rc;                                                       \
    }

WRAP(stat, (const char *restrict path, struct stat *restrict buf), (path, buf))
WRAP(lstat, (const char *restrict path, struct stat *restrict buf), (path, buf))
WRAP(fstat, (int fd, struct stat *buf), (fd, buf))
WRAP(fstatat, (int fd, const char *restrict path, struct stat *restrict buf, int flags), (fd, path, buf, flags))
WRAP(stat64, (const char *restrict path, struct stat64 *restrict buf), (path, buf))
WRAP(lstat64, (const char *restrict path, struct stat64 *restrict buf), (path, buf))
WRAP(fstat64, (int fd, struct stat64 *buf), (fd, buf))
WRAP(fstatat64, (int fd, const char *restrict path, struct stat64 *restrict buf, int flags), (fd, path, buf, flags))
