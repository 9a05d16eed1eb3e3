// The publishers of the load: each has a connection and an outstanding event, signed as Pusher's HTTP API demands.
#include "load.h"
#include "digest.h"

/** More than the events that can be outstanding at once. */
#define WINDOW (1 << 16)
#define MAX_BODY 8192
/** Makes the data of an event about 100 bytes long. */
#define PADDING "the quick brown fox jumps over the lazy dog, and the dog lets it jump once more"

struct publisher {
  int fd;
  /** Whether the answer and the deliveries are pending; the publisher is free when neither is. */
  bool awaits_answer, awaits_deliveries;
  uint64_t number;
  struct bytes *waiting;
};

/** An event that was published, by its number modulo WINDOW. */
struct event {
  uint64_t number, sent_at;
  uint32_t publisher, missing;
};

struct samples deliveries, completions;

static struct publisher *publishers;
static struct event events[WINDOW];
static uint64_t last_number;
static struct hmac signer;
/** How many publishes the free publishers may still begin, and how many are done. */
static long allowed, done;
/** Whether a publisher is free as soon as it has its answer. */
static bool forgets_deliveries;

static void samples_add(struct samples *samples, uint64_t ns) {
  if (samples->length == samples->room) {
    samples->room = samples->room == 0 ? 1 << 16 : 2 * samples->room;
    samples->values = realloc(samples->values, samples->room * sizeof *samples->values);
    if (samples->values == NULL) die("there is no memory left");
  }
  samples->values[samples->length++] = ns > UINT32_MAX ? UINT32_MAX : (uint32_t)ns;
}

static int compare(const void *a, const void *b) {
  uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
  return left < right ? -1 : left > right;
}

double milliseconds_at(struct samples *samples, double percent) {
  if (samples->length == 0) return 0;
  qsort(samples->values, samples->length, sizeof *samples->values, compare);
  size_t place = (size_t)(percent / 100 * (double)samples->length);
  if (place >= samples->length) place = samples->length - 1;
  return samples->values[place] / 1e6;
}

/** The part of a request's path after the question mark. */
static void sign(const struct hmac *hmac, const char *path, const char *key, long timestamp, const char *body,
                 size_t length, char *query, size_t room) {
  uint8_t digest[32];
  char hex[65], text[1024];
  struct hash hash = md5();
  hash_add(&hash, body, length);
  to_hex(digest, hash_end(&hash, digest), hex);
  snprintf(query, room, "auth_key=%s&auth_timestamp=%ld&auth_version=1.0&body_md5=%s", key, timestamp, hex);
  int size = snprintf(text, sizeof text, "POST\n%s\n%s", path, query);
  hmac_sign(hmac, text, (size_t)size, digest);
  to_hex(digest, sizeof digest, hex);
  size_t used = strlen(query);
  snprintf(query + used, room - used, "&auth_signature=%s", hex);
}

static void publish(uint32_t index) {
  struct publisher *publisher = &publishers[index];
  char body[MAX_BODY], query[512], path[128], request[MAX_BODY + 1024];
  uint64_t number = ++last_number;
  int length = snprintf(body, sizeof body,
                        "{\"name\":\"bench-event\",\"channels\":[\"" CHANNEL "\"],\"data\":\"" MARK "%0*llu " PADDING "\"}",
                        NUMBER_DIGITS, (unsigned long long)number);
  snprintf(path, sizeof path, "/apps/%s/events", options.app);
  sign(&signer, path, options.key, (long)time(NULL), body, (size_t)length, query, sizeof query);
  int size = snprintf(request, sizeof request,
                      "POST %s?%s HTTP/1.1\r\nHost: 127.0.0.1:%ld\r\nContent-Type: application/json\r\n"
                      "Content-Length: %d\r\n\r\n%s",
                      path, query, options.port, length, body);
  publisher->number = number;
  publisher->awaits_answer = true;
  publisher->awaits_deliveries = !forgets_deliveries;
  events[number % WINDOW] = (struct event){number, now_ns(), index, (uint32_t)options.subscribers};
  write_short(publisher->fd, request, (size_t)size);
}

static void go_on(uint32_t index) {
  if (publishers[index].awaits_answer || publishers[index].awaits_deliveries) return;
  done++;
  if (allowed == 0) return;
  allowed--;
  publish(index);
}

void on_delivery(uint64_t number, uint64_t at) {
  struct event *event = &events[number % WINDOW];
  if (event->number != number || event->missing == 0) die("the server has delivered something twice or too late");
  samples_add(&deliveries, at - event->sent_at);
  if (--event->missing > 0) return;
  samples_add(&completions, at - event->sent_at);
  if (forgets_deliveries) return;
  publishers[event->publisher].awaits_deliveries = false;
  go_on(event->publisher);
}

void on_publisher(uint32_t index) {
  struct publisher *publisher = &publishers[index];
  size_t length, body;
  if (!read_some(publisher->fd, &length)) die("the server has dropped a publisher");
  publisher->waiting = bytes_add(publisher->waiting, read_buffer, length);
  size_t size = http_size(publisher->waiting->data, publisher->waiting->length, &body);
  if (size == 0) return;
  if (memmem(publisher->waiting->data, body, " 200 ", 5) == NULL) {
    die("the server does not publish: %.*s", (int)size, (const char *)publisher->waiting->data);
  }
  publisher->waiting->length = 0;
  publisher->awaits_answer = false;
  go_on(index);
}

void open_publishers(void) {
  publishers = calloc((size_t)options.publishers, sizeof *publishers);
  if (publishers == NULL) die("there is no memory left");
  signer = hmac_sha256(options.secret, strlen(options.secret));
  for (long i = 0; i < options.publishers; i++) {
    publishers[i].fd = connect_from(1);
    watch(publishers[i].fd, IS_PUBLISHER | (uint64_t)i, EPOLL_CTL_ADD);
  }
}

/** Has every free publisher publish. */
static void start_all(void) {
  for (uint32_t i = 0; i < options.publishers && allowed > 0; i++) {
    allowed--;
    publish(i);
  }
}

void publish_and_wait(long count) {
  allowed = count;
  done = 0;
  deliveries.length = completions.length = 0;
  start_all();
  while (done < count) poll_once(-1);
}

void publish_at_rate(long count) {
  uint64_t start = now_ns(), step = 1000000000u / (uint64_t)options.rate;
  allowed = done = 0;
  deliveries.length = completions.length = 0;
  for (long sent = 0; done < count;) {
    int64_t left = (int64_t)(start + (uint64_t)sent * step - now_ns());
    if (sent == count || left > 0) {
      poll_once(sent == count ? -1 : (int)(left / 1000000 + 1));
      continue;
    }
    long index = sent++ % options.publishers;
    if (publishers[index].awaits_answer || publishers[index].awaits_deliveries) {
      die("the server cannot keep up with %ld publishes a second", options.rate);
    }
    publish((uint32_t)index);
  }
}

long publish_for(long seconds) {
  uint64_t end = now_ns() + (uint64_t)seconds * 1000000000u;
  forgets_deliveries = true;
  allowed = INT32_MAX;
  done = 0;
  deliveries.length = completions.length = 0;
  start_all();
  while (now_ns() < end) poll_once(100);
  long answered = done;
  allowed = 0;
  while (done < answered + options.publishers) poll_once(-1);
  while (events[last_number % WINDOW].missing > 0) poll_once(-1);
  return answered;
}

/** The example of Pusher's documentation, and of RFC 6455. */
void check_signatures(void) {
  static const char secret[] = "7ad3773142a6692b25b8";
  static const char body[] = "{\"name\":\"foo\",\"channels\":[\"project-3\"],\"data\":\"{\\\"some\\\":\\\"data\\\"}\"}";
  static const char expected[] =
      "auth_key=278d425bdf160c739803&auth_timestamp=1353088179&auth_version=1.0"
      "&body_md5=ec365a775a4cd0599faeb73354201b6f"
      "&auth_signature=da454824c97ba181a32ccc17a72625ba02771f50b50e1e7430e47a1f3f457e6c";
  char query[512], accept[29];
  struct hmac hmac = hmac_sha256(secret, sizeof secret - 1);
  sign(&hmac, "/apps/3/events", "278d425bdf160c739803", 1353088179, body, sizeof body - 1, query, sizeof query);
  if (strcmp(query, expected) != 0) die("the load signs wrongly: %s", query);
  accept_key("dGhlIHNhbXBsZSBub25jZQ==", 24, accept);
  if (strcmp(accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=") != 0) die("the handshake is wrong: %s", accept);
}
