// Loads a server of the Pusher protocol and prints the results as JSON. `load MODE --name value ...` takes the secret
// from LOAD_SECRET; the modes are `fanout`, `connect`, `idle` and `publish`, and `check`, which tests the load's own
// signatures.
#include "load.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#define EVENTS 1024
/** After this silence, the awaited message counts as lost. */
#define SILENCE_MS 30000

struct options options = {
    .app = "", .key = "", .subscribers = 1, .publishers = 1, .seconds = 1};
int epoll;
uint8_t read_buffer[READ_SIZE];

void watch(int fd, uint64_t what, int operation) {
  struct epoll_event event = {.events = EPOLLIN, .data.u64 = what};
  if (epoll_ctl(epoll, operation, fd, &event) < 0) die("epoll_ctl: %s", strerror(errno));
}

int connect_from(uint32_t source) {
  struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000000 | source)};
  struct sockaddr_in to = {
      .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons((uint16_t)options.port)};
  int on = 1;
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) die("no more connections can be opened: %s", strerror(errno));
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
  if (bind(fd, (struct sockaddr *)&from, sizeof from) < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) < 0) {
    die("no connection to port %ld: %s", options.port, strerror(errno));
  }
  fcntl(fd, F_SETFL, O_NONBLOCK);
  return fd;
}

bool read_some(int fd, size_t *length) {
  ssize_t got = read(fd, read_buffer, sizeof read_buffer);
  if (got < 0 && errno != EAGAIN) die("a connection broke: %s", strerror(errno));
  *length = got < 0 ? 0 : (size_t)got;
  return got != 0;
}

void write_short(int fd, const void *data, size_t length) {
  if (write(fd, data, length) != (ssize_t)length) die("the server does not read: %s", strerror(errno));
}

void poll_once(int timeout_ms) {
  struct epoll_event events[EVENTS];
  int ready = epoll_wait(epoll, events, EVENTS, timeout_ms < 0 ? SILENCE_MS : timeout_ms);
  if (ready < 0 && errno != EINTR) die("epoll_wait: %s", strerror(errno));
  if (ready == 0 && timeout_ms < 0) die("the server has been silent for %d s", SILENCE_MS / 1000);
  for (int i = 0; i < ready; i++) {
    uint64_t what = events[i].data.u64;
    if (what & IS_PUBLISHER) on_publisher((uint32_t)what);
    else on_subscriber((uint32_t)what);
  }
}

/**
 * @returns the nanoseconds of processor time of the server so far, with all its threads, also threads that have ended.
 */
static uint64_t server_cpu_ns(void) {
  clockid_t clock;
  struct timespec spent;
  if (clock_getcpuclockid((pid_t)options.pid, &clock) != 0 || clock_gettime(clock, &spent) != 0) {
    die("there is no process %ld", options.pid);
  }
  return (uint64_t)spent.tv_sec * 1000000000u + (uint64_t)spent.tv_nsec;
}

static void print_percentiles(const char *name, struct samples *samples) {
  printf(",\"%s\":{\"p50\":%.4f,\"p99\":%.4f}", name, milliseconds_at(samples, 50), milliseconds_at(samples, 99));
}

static void print_latencies(void) {
  printf(",\"deliveries\":%zu", deliveries.length);
  print_percentiles("deliveryMs", &deliveries);
  print_percentiles("completionMs", &completions);
}

static void print_totals(long count, uint64_t cpu, uint64_t started_at) {
  double seconds = (double)(now_ns() - started_at) / 1e9;
  printf("{\"count\":%ld,\"seconds\":%.6f,\"cpuSeconds\":%.9f", count, seconds, (double)(server_cpu_ns() - cpu) / 1e9);
}

static void end_line(void) {
  printf("}\n");
  fflush(stdout);
}

static void fan_out(void) {
  subscribe_all();
  open_publishers();
  publish_and_wait(options.warm_up);
  uint64_t cpu = server_cpu_ns(), started_at = now_ns();
  if (options.rate > 0) publish_at_rate(options.publishes);
  else publish_and_wait(options.publishes);
  print_totals(options.publishes, cpu, started_at);
  print_latencies();
  end_line();
}

static void connect_only(void) {
  uint64_t cpu = server_cpu_ns(), started_at = now_ns();
  subscribe_all();
  print_totals(options.subscribers, cpu, started_at);
  end_line();
}

/** Reports that all connections stand, and keeps them until the other end of standard input is closed. */
static void idle(void) {
  struct pollfd wakers[2] = {{.fd = 0, .events = POLLIN}, {.fd = epoll, .events = POLLIN}};
  connect_only();
  for (;;) {
    if (poll(wakers, 2, -1) < 0 && errno != EINTR) die("poll: %s", strerror(errno));
    if (wakers[0].revents != 0) return;
    poll_once(0);
  }
}

static void publish_only(void) {
  subscribe_all();
  open_publishers();
  publish_and_wait(options.warm_up);
  uint64_t cpu = server_cpu_ns(), started_at = now_ns();
  long count = publish_for(options.seconds);
  print_totals(count, cpu, started_at);
  print_latencies();
  end_line();
}

static void read_options(int count, char **words) {
  const struct {
    const char *name;
    const char **text;
    long *number;
  } known[] = {
      {"--app", &options.app, NULL},
      {"--key", &options.key, NULL},
      {"--port", NULL, &options.port},
      {"--pid", NULL, &options.pid},
      {"--subscribers", NULL, &options.subscribers},
      {"--publishers", NULL, &options.publishers},
      {"--publishes", NULL, &options.publishes},
      {"--warm-up", NULL, &options.warm_up},
      {"--rate", NULL, &options.rate},
      {"--seconds", NULL, &options.seconds},
  };
  options.mode = count > 1 ? words[1] : "";
  options.secret = getenv("LOAD_SECRET") == NULL ? "" : getenv("LOAD_SECRET");
  for (int i = 2; i < count; i += 2) {
    size_t which = 0;
    while (which < sizeof known / sizeof *known && strcmp(words[i], known[which].name) != 0) which++;
    if (which == sizeof known / sizeof *known || i + 1 == count) die("%s is no option, or has no value", words[i]);
    if (known[which].text != NULL) *known[which].text = words[i + 1];
    else *known[which].number = strtol(words[i + 1], NULL, 10);
  }
}

int main(int count, char **words) {
  static const struct {
    const char *name;
    void (*run)(void);
  } modes[] = {{"check", check_signatures}, {"fanout", fan_out}, {"connect", connect_only},
               {"idle", idle},              {"publish", publish_only}};
  read_options(count, words);
  raise_open_files();
  epoll = epoll_create1(EPOLL_CLOEXEC);
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
    if (strcmp(options.mode, modes[i].name) != 0) continue;
    modes[i].run();
    return 0;
  }
  die("there is no mode %s", options.mode);
}
