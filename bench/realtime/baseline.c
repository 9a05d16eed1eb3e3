// A minimal server of the Pusher protocol: one thread, one epoll, one channel a connection, no signatures, and a
// frame that is made once. `baseline [--coalesce]` prints the port that it listens on.
#include "net.h"
#include "digest.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define READ_SIZE 65536
#define EVENTS 1024
#define BACKLOG 4096

struct channel {
  struct channel *next;
  int *subscribers;
  size_t count, room;
  /** With --coalesce, the frames that leave at the end of this round. */
  struct bytes *pending;
  char name[];
};

struct connection {
  struct channel *channel;
  struct bytes *in, *out;
  uint32_t place;
  bool is_open, is_websocket;
};

static bool coalesce;
static int epoll, listener;
/** By descriptor. */
static struct connection *connections;
static struct channel *channels;
static uint8_t read_buffer[READ_SIZE];
static struct bytes *frames;
static uint32_t sockets_greeted;

static void watch(int fd, uint32_t events, int operation) {
  struct epoll_event event = {.events = events, .data.fd = fd};
  if (epoll_ctl(epoll, operation, fd, &event) < 0) die("epoll_ctl: %s", strerror(errno));
}

static void drop(int fd) {
  struct connection *connection = &connections[fd];
  struct channel *channel = connection->channel;
  if (channel != NULL) {
    int last = channel->subscribers[--channel->count];
    channel->subscribers[connection->place] = last;
    connections[last].place = connection->place;
  }
  free(connection->in);
  free(connection->out);
  *connection = (struct connection){0};
  close(fd);
}

/**
 * Writes as much as the socket takes now, and the rest when it takes more. A broken socket is dropped when it is read.
 */
static void send_bytes(int fd, const void *data, size_t length) {
  struct connection *connection = &connections[fd];
  if (connection->out != NULL) {
    connection->out = bytes_add(connection->out, data, length);
    return;
  }
  ssize_t sent = write(fd, data, length);
  if (sent == (ssize_t)length || (sent < 0 && errno != EAGAIN)) return;
  size_t done = sent < 0 ? 0 : (size_t)sent;
  connection->out = bytes_add(NULL, (const uint8_t *)data + done, length - done);
  watch(fd, EPOLLIN | EPOLLOUT, EPOLL_CTL_MOD);
}

static void send_rest(int fd) {
  struct connection *connection = &connections[fd];
  struct bytes *out = connection->out;
  if (out == NULL) return;
  connection->out = NULL;
  watch(fd, EPOLLIN, EPOLL_CTL_MOD);
  send_bytes(fd, out->data, out->length);
  free(out);
}

static void send_text(int fd, const char *text, size_t length) {
  uint8_t frame[1024];
  size_t header = frame_header(frame, OP_TEXT, length);
  memcpy(frame + header, text, length);
  send_bytes(fd, frame, header + length);
}

/** The text between the quotes after a given text, with its escapes. */
struct slice {
  const char *text;
  size_t length;
};

static struct slice quoted_after(const char *json, size_t length, const char *before) {
  const char *found = memmem(json, length, before, strlen(before));
  if (found == NULL) return (struct slice){NULL, 0};
  const char *from = found + strlen(before);
  for (const char *at = from; at < json + length; at++) {
    if (*at == '"') return (struct slice){from, (size_t)(at - from)};
    if (*at == '\\') at++;
  }
  return (struct slice){NULL, 0};
}

static struct channel *channel_named(struct slice name) {
  for (struct channel *channel = channels; channel != NULL; channel = channel->next) {
    if (strncmp(channel->name, name.text, name.length) == 0 && channel->name[name.length] == 0) return channel;
  }
  struct channel *channel = calloc(1, sizeof *channel + name.length + 1);
  if (channel == NULL) die("there is no memory left");
  memcpy(channel->name, name.text, name.length);
  channel->next = channels;
  return channels = channel;
}

static void write_all(struct channel *channel, const uint8_t *data, size_t length) {
  for (size_t i = 0; i < channel->count; i++) send_bytes(channel->subscribers[i], data, length);
}

static void flush(struct channel *channel) {
  if (channel->pending == NULL || channel->pending->length == 0) return;
  write_all(channel, channel->pending->data, channel->pending->length);
  channel->pending->length = 0;
}

static void subscribe(int fd, struct slice name) {
  struct connection *connection = &connections[fd];
  if (name.text == NULL || name.length > 200 || connection->channel != NULL) return;
  char text[512];
  int length = snprintf(text, sizeof text,
                        "{\"event\":\"pusher_internal:subscription_succeeded\",\"channel\":\"%.*s\",\"data\":\"{}\"}",
                        (int)name.length, name.text);
  struct channel *channel = channel_named(name);
  flush(channel);
  if (channel->count == channel->room) {
    channel->room = channel->room == 0 ? 64 : 2 * channel->room;
    channel->subscribers = realloc(channel->subscribers, channel->room * sizeof *channel->subscribers);
    if (channel->subscribers == NULL) die("there is no memory left");
  }
  connection->channel = channel;
  connection->place = (uint32_t)channel->count;
  channel->subscribers[channel->count++] = fd;
  send_text(fd, text, (size_t)length);
}

/** Makes the frame of an event once, and hands it to all subscribers. */
static void publish(const char *body, size_t length) {
  struct slice name = quoted_after(body, length, "\"name\":\"");
  struct slice to = quoted_after(body, length, "\"channels\":[\"");
  struct slice data = quoted_after(body, length, "\"data\":\"");
  if (name.text == NULL || to.text == NULL || data.text == NULL) return;
  static char text[READ_SIZE + 64];
  int size = snprintf(text, sizeof text, "{\"event\":\"%.*s\",\"channel\":\"%.*s\",\"data\":\"%.*s\"}",
                      (int)name.length, name.text, (int)to.length, to.text, (int)data.length, data.text);
  if (size >= (int)sizeof text) return;
  uint8_t header[MAX_FRAME_HEADER];
  struct channel *channel = channel_named(to);
  struct bytes **frame = coalesce ? &channel->pending : &frames;
  *frame = bytes_add(*frame, header, frame_header(header, OP_TEXT, (size_t)size));
  *frame = bytes_add(*frame, text, (size_t)size);
  if (coalesce) return;
  write_all(channel, frames->data, frames->length);
  frames->length = 0;
}

static void greet(int fd, const char *key) {
  char accept[29], text[512];
  accept_key(key, strcspn(key, "\r\n "), accept);
  int length = snprintf(text, sizeof text,
                        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                        "Sec-WebSocket-Accept: %s\r\n\r\n",
                        accept);
  send_bytes(fd, text, (size_t)length);
  length = snprintf(text, sizeof text,
                    "{\"event\":\"pusher:connection_established\",\"data\":\"{\\\"socket_id\\\":\\\"%d.%u\\\","
                    "\\\"activity_timeout\\\":120}\"}",
                    fd, ++sockets_greeted);
  send_text(fd, text, (size_t)length);
  connections[fd].is_websocket = true;
}

/** @returns how many bytes of the request were used, 0 when it is incomplete. */
static size_t on_request(int fd, uint8_t *data, size_t length) {
  static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
  size_t body;
  size_t size = http_size(data, length, &body);
  if (size == 0) return 0;
  const char *text = (const char *)data;
  const char *key = header_value(text, text + body, "sec-websocket-key");
  if (key != NULL) {
    greet(fd, key);
  } else {
    publish(text + body, size - body);
    send_bytes(fd, answer, sizeof answer - 1);
  }
  return size;
}

/** @returns how many bytes of the frame were used, 0 when it is incomplete; drops the connection when it closes. */
static size_t on_frame(int fd, uint8_t *data, size_t length) {
  static const char pong[] = "{\"event\":\"pusher:pong\",\"data\":\"{}\"}";
  struct frame frame;
  size_t size = read_frame(data, length, &frame);
  if (size == 0) return 0;
  const char *text = (const char *)frame.payload;
  if (frame.opcode == OP_CLOSE) {
    drop(fd);
  } else if (frame.opcode == OP_TEXT && memmem(text, frame.length, "pusher:subscribe", 16) != NULL) {
    subscribe(fd, quoted_after(text, frame.length, "\"channel\":\""));
  } else if (frame.opcode == OP_TEXT && memmem(text, frame.length, "pusher:ping", 11) != NULL) {
    send_text(fd, pong, sizeof pong - 1);
  }
  return size;
}

static void read_from(int fd) {
  struct connection *connection = &connections[fd];
  ssize_t got = read(fd, read_buffer, sizeof read_buffer);
  if (got <= 0) {
    if (got == 0 || errno != EAGAIN) drop(fd);
    return;
  }
  uint8_t *data = read_buffer;
  size_t length = (size_t)got, used;
  struct bytes *waiting = connection->in;
  if (waiting != NULL) {
    waiting = bytes_add(waiting, read_buffer, length);
    data = waiting->data;
    length = waiting->length;
    connection->in = NULL;
  }
  do {
    used = connection->is_websocket ? on_frame(fd, data, length) : on_request(fd, data, length);
    data += used;
    length -= used;
  } while (used > 0 && length > 0 && connection->is_open);
  if (length > 0 && connection->is_open) connection->in = bytes_add(NULL, data, length);
  free(waiting);
}

static void accept_all(void) {
  for (;;) {
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    connections[fd] = (struct connection){.is_open = true};
    watch(fd, EPOLLIN, EPOLL_CTL_ADD);
  }
}

/** Listens on a free port of loopback. Accepted sockets inherit the options that are set here. */
static void listen_anywhere(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  int on = 1;
  listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  setsockopt(listener, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (bind(listener, (struct sockaddr *)&address, size) < 0 || listen(listener, BACKLOG) < 0) {
    die("the baseline cannot listen: %s", strerror(errno));
  }
  getsockname(listener, (struct sockaddr *)&address, &size);
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  watch(listener, EPOLLIN, EPOLL_CTL_ADD);
}

int main(int count, char **words) {
  coalesce = count > 1 && strcmp(words[1], "--coalesce") == 0;
  signal(SIGPIPE, SIG_IGN);
  connections = calloc(raise_open_files(), sizeof *connections);
  epoll = epoll_create1(EPOLL_CLOEXEC);
  if (connections == NULL || epoll < 0) die("the baseline cannot start: %s", strerror(errno));
  listen_anywhere();
  for (;;) {
    struct epoll_event events[EVENTS];
    int ready = epoll_wait(epoll, events, EVENTS, -1);
    for (int i = 0; i < ready; i++) {
      int fd = events[i].data.fd;
      if (fd == listener) {
        accept_all();
        continue;
      }
      if (events[i].events & EPOLLOUT) send_rest(fd);
      if (events[i].events & ~(uint32_t)EPOLLOUT) read_from(fd);
    }
    for (struct channel *channel = channels; coalesce && channel != NULL; channel = channel->next) flush(channel);
  }
}
