/*
 * Loaded before Bun under Valgrind (`bun run bench instructions`): its clocks go SLOWER times slower, and its waits are as
 * much longer. A call takes about that much longer under Valgrind; with the true time, timers fire so many times more
 * often for each call, and groups that are closed after some milliseconds hold few calls. Clocks of processor time and
 * sleeps are left alone: nothing in Bun's loop uses them.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/time.h>
#include <time.h>

#define SLOWER 64
#define SECOND 1000000000LL
/* Absolute times beyond this are of the calendar, and below it since the machine was started. */
#define CALENDAR (1000000000LL * SECOND)
/* An end that is further away is none. */
#define NEVER (4000000000LL * SECOND)
#define MOST_WAIT_MS 600000

static int64_t calendar_origin, running_origin;
static int (*real_clock)(clockid_t, struct timespec *);
static int (*real_cond_wait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
static int (*real_epoll)(int, struct epoll_event *, int, int, const sigset_t *);

static int64_t nanoseconds(const struct timespec *time) { return time->tv_sec * SECOND + time->tv_nsec; }

static void put(struct timespec *time, int64_t value) {
  time->tv_sec = value / SECOND;
  time->tv_nsec = value % SECOND;
}

static int64_t now(clockid_t clock) {
  struct timespec time;
  real_clock(clock, &time);
  return nanoseconds(&time);
}

__attribute__((constructor(101))) static void install(void) {
  if (real_clock) return;
  real_clock = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  /* Without its version this would be the function of an older form of the variable. */
  real_cond_wait = (int (*)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *))dlvsym(
    RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
  real_epoll = (int (*)(int, struct epoll_event *, int, int, const sigset_t *))dlsym(RTLD_NEXT, "epoll_pwait");
  calendar_origin = now(CLOCK_REALTIME);
  running_origin = now(CLOCK_MONOTONIC);
}

static int64_t slowed(int64_t time, int64_t origin) {
  return time <= origin ? time : origin + (time - origin) / SLOWER;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  install();
  int result = real_clock(clock, time);
  switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
      put(time, slowed(nanoseconds(time), calendar_origin));
      break;
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_BOOTTIME:
      put(time, slowed(nanoseconds(time), running_origin));
      break;
  }
  return result;
}

int gettimeofday(struct timeval *value, void *zone) {
  (void)zone;
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  value->tv_sec = time.tv_sec;
  value->tv_usec = time.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *value) {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  if (value) *value = time.tv_sec;
  return time.tv_sec;
}

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until) {
  install();
  int64_t end = nanoseconds(until);
  if (end > NEVER) return real_cond_wait(condition, mutex, until);
  int64_t origin = end > CALENDAR ? calendar_origin : running_origin;
  struct timespec real;
  put(&real, end <= origin ? end : origin + (end - origin) * SLOWER);
  return real_cond_wait(condition, mutex, &real);
}

int epoll_pwait(int epoll, struct epoll_event *events, int most, int timeout, const sigset_t *signals) {
  install();
  if (timeout > 0) {
    int64_t longer = (int64_t)timeout * SLOWER;
    timeout = longer > MOST_WAIT_MS ? MOST_WAIT_MS : (int)longer;
  }
  return real_epoll(epoll, events, most, timeout, signals);
}
