// What the parts of the load share: what was asked for, the subscribers, the publishers, and what they tell each other.
#pragma once
#include "net.h"
#include <stdbool.h>
#include <sys/epoll.h>

#define CHANNEL "bench"

/** Stands in every published event before its number, which has always as many digits. */
#define MARK "event-no-"
#define MARK_LENGTH (sizeof MARK - 1)
#define NUMBER_DIGITS 10

/** Events of publishers carry this bit in epoll's data, beside their number. */
#define IS_PUBLISHER (1ull << 32)

#define READ_SIZE (1 << 18)

struct options {
  const char *mode, *app, *key, *secret;
  long port, subscribers, publishers, publishes, warm_up, rate, seconds, pid;
};

extern struct options options;
extern int epoll;
extern uint8_t read_buffer[READ_SIZE];

/** Handles what is ready, after waiting for it so long at most; -1 waits for ever. */
void poll_once(int timeout_ms);
void watch(int fd, uint64_t what, int operation);
/** Connects to the server from some address of loopback, and makes the socket one that never waits. */
int connect_from(uint32_t source);
/** @returns false when the other side has closed; what is read is in `read_buffer`. */
bool read_some(int fd, size_t *length);
/** Writes something short to a socket that has room for it. */
void write_short(int fd, const void *data, size_t length);

/** Connects and subscribes all that were asked for. Ends the process when the server refuses one. */
void subscribe_all(void);
void on_subscriber(uint32_t number);
void close_subscribers(void);

void open_publishers(void);
void on_publisher(uint32_t number);
/** A subscriber has received the event with this number. */
void on_delivery(uint64_t number, uint64_t at);
/** Publishes so many events, each publisher the next one when its last was answered and delivered to all. */
void publish_and_wait(long count);
/** As many a second as asked for, whether the earlier ones are done or not. */
void publish_at_rate(long count);
/** Publishes as fast as they are answered. @returns how many were. */
long publish_for(long seconds);
/** Ends the process unless every hash and signature is what is known of it. */
void check_signatures(void);

/** Nanoseconds from a publish to each delivery, and to its last one. */
struct samples {
  uint32_t *values;
  size_t length, room;
};

extern struct samples deliveries, completions;
double milliseconds_at(struct samples *samples, double percent);
