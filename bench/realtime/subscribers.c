// The subscribers of the load: each connects, subscribes to the channel, and counts its events.
#include "load.h"

/** Connections in the making at a time; fewer than the backlog of any server. */
#define IN_FLIGHT 100
/** Loopback has enough addresses, and each has its own ports. */
#define PER_SOURCE 4000

/** RFC 6455's own example, so that the answer is known. */
#define KEY "dGhlIHNhbXBsZSBub25jZQ=="
#define ACCEPT "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

enum state { UPGRADING, GREETING, SUBSCRIBING, SUBSCRIBED };

struct subscriber {
  int fd;
  enum state state;
  struct bytes *waiting;
};

static struct subscriber *subscribers;
static long opened, subscribed;
static char upgrade[512];
/** The place of the mark in the last event; the next event has it at the same place. */
static size_t mark_at;

static bool contains(const struct frame *frame, const char *text) {
  return memmem(frame->payload, frame->length, text, strlen(text)) != NULL;
}

/** Sends a frame with the mask 0, which is a valid mask, so that the payload stays as it is. */
static void send_masked(int fd, enum opcode opcode, const void *payload, size_t length) {
  uint8_t frame[512];
  size_t size = frame_header(frame, opcode, length);
  frame[1] |= 128;
  memset(frame + size, 0, 4);
  memcpy(frame + size + 4, payload, length);
  write_short(fd, frame, size + 4 + length);
}

static void open_next(void) {
  struct subscriber *subscriber = &subscribers[opened];
  // Connections of an earlier process may still hold their ports, so each process begins at another address.
  uint32_t source = ((uint32_t)getpid() % 200 + 1) << 8 | (uint32_t)(opened / PER_SOURCE + 1);
  *subscriber = (struct subscriber){.fd = connect_from(source), .state = UPGRADING};
  watch(subscriber->fd, (uint64_t)opened, EPOLL_CTL_ADD);
  write_short(subscriber->fd, upgrade, strlen(upgrade));
  opened++;
}

static size_t on_upgrade(struct subscriber *subscriber, uint8_t *data, size_t length) {
  size_t body;
  size_t size = http_size(data, length, &body);
  if (size == 0) return 0;
  if (memmem(data, body, " 101 ", 5) == NULL || memmem(data, body, ACCEPT, strlen(ACCEPT)) == NULL) {
    die("the server does not upgrade: %.*s", (int)size, (const char *)data);
  }
  subscriber->state = GREETING;
  return size;
}

/** The number of the event in this frame; false without a number. */
static bool number_in(const struct frame *frame, uint64_t *number) {
  size_t end = mark_at + MARK_LENGTH + NUMBER_DIGITS;
  if (frame->length < end || memcmp(frame->payload + mark_at, MARK, MARK_LENGTH) != 0) {
    const uint8_t *found = memmem(frame->payload, frame->length, MARK, MARK_LENGTH);
    if (found == NULL) return false;
    mark_at = (size_t)(found - frame->payload);
  }
  *number = 0;
  const uint8_t *digits = frame->payload + mark_at + MARK_LENGTH;
  for (int i = 0; i < NUMBER_DIGITS; i++) *number = *number * 10 + (digits[i] - '0');
  return true;
}

static void on_message(struct subscriber *subscriber, const struct frame *frame) {
  static const char subscribe[] = "{\"event\":\"pusher:subscribe\",\"data\":{\"channel\":\"" CHANNEL "\"}}";
  if (subscriber->state == GREETING && contains(frame, "pusher:connection_established")) {
    subscriber->state = SUBSCRIBING;
    send_masked(subscriber->fd, OP_TEXT, subscribe, sizeof subscribe - 1);
  } else if (subscriber->state == SUBSCRIBING && contains(frame, "pusher_internal:subscription_succeeded")) {
    subscriber->state = SUBSCRIBED;
    subscribed++;
    if (opened < options.subscribers) open_next();
  } else if (contains(frame, "\"pusher:ping\"")) {
    static const char pong[] = "{\"event\":\"pusher:pong\",\"data\":{}}";
    send_masked(subscriber->fd, OP_TEXT, pong, sizeof pong - 1);
  } else if (contains(frame, "error")) {
    die("the server complains: %.*s", (int)frame->length, (const char *)frame->payload);
  }
}

static size_t on_frame(struct subscriber *subscriber, uint8_t *data, size_t length, uint64_t at) {
  struct frame frame;
  uint64_t number;
  size_t size = read_frame(data, length, &frame);
  if (size == 0) return 0;
  if (frame.opcode == OP_CLOSE) die("the server closes a subscriber");
  if (frame.opcode == OP_PING) send_masked(subscriber->fd, OP_PONG, frame.payload, frame.length);
  if (frame.opcode != OP_TEXT) return size;
  if (subscriber->state == SUBSCRIBED && number_in(&frame, &number)) on_delivery(number, at);
  else on_message(subscriber, &frame);
  return size;
}

void on_subscriber(uint32_t number) {
  struct subscriber *subscriber = &subscribers[number];
  size_t length, used;
  if (!read_some(subscriber->fd, &length)) die("the server has dropped a subscriber");
  uint64_t at = now_ns();
  uint8_t *data = read_buffer;
  struct bytes *waiting = subscriber->waiting;
  if (waiting != NULL) {
    waiting = bytes_add(waiting, data, length);
    data = waiting->data;
    length = waiting->length;
    subscriber->waiting = NULL;
  }
  do {
    used = subscriber->state == UPGRADING ? on_upgrade(subscriber, data, length)
                                          : on_frame(subscriber, data, length, at);
    data += used;
    length -= used;
  } while (used > 0 && length > 0);
  if (length > 0) subscriber->waiting = bytes_add(NULL, data, length);
  free(waiting);
}

void subscribe_all(void) {
  subscribers = calloc((size_t)options.subscribers, sizeof *subscribers);
  if (subscribers == NULL) die("there is no memory left");
  snprintf(upgrade, sizeof upgrade,
           "GET /app/%s?protocol=7&client=load&version=1.0 HTTP/1.1\r\nHost: 127.0.0.1:%ld\r\n"
           "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
           "Sec-WebSocket-Key: " KEY "\r\n\r\n",
           options.key, options.port);
  while (opened < options.subscribers && opened < IN_FLIGHT) open_next();
  while (subscribed < options.subscribers) poll_once(-1);
}

void close_subscribers(void) {
  for (long i = 0; i < opened; i++) close(subscribers[i].fd);
}
