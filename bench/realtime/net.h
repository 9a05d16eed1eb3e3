// What the server and the load have in common: sockets, buffers that grow, HTTP headers and WebSocket frames.
#pragma once
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum opcode { OP_TEXT = 1, OP_CLOSE = 8, OP_PING = 9, OP_PONG = 10 };

/** The longest header that a frame of a client has. */
#define MAX_FRAME_HEADER 14
#define MAX_FILES (1 << 20)

static inline void die(const char *format, ...) {
  va_list args;
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
  fputc('\n', stderr);
  exit(1);
}

/** @returns nanoseconds of a clock that only goes forward. */
static inline uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/** Lets this process open as many files as it may, within reason. @returns their number. */
static inline size_t raise_open_files(void) {
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max < MAX_FILES ? limit.rlim_max : MAX_FILES;
  setrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

/** Bytes that wait: the begin of something that has not come whole, or the end of something that could not leave. */
struct bytes {
  size_t length, room;
  uint8_t data[];
};

/** Adds to what waits; `bytes` may be null. @returns where it is now. */
static inline struct bytes *bytes_add(struct bytes *bytes, const void *data, size_t length) {
  size_t had = bytes == NULL ? 0 : bytes->length;
  if (bytes == NULL || bytes->room < had + length) {
    size_t room = 2 * had + length;
    bytes = realloc(bytes, sizeof *bytes + room);
    if (bytes == NULL) die("there is no memory left");
    bytes->room = room;
  }
  memcpy(bytes->data + had, data, length);
  bytes->length = had + length;
  return bytes;
}

/** The value of a header in text that ends with an empty line, or null. */
static inline const char *header_value(const char *text, const char *end, const char *name) {
  size_t length = strlen(name);
  for (const char *line = text; line < end;) {
    if ((size_t)(end - line) > length && strncasecmp(line, name, length) == 0 && line[length] == ':') {
      line += length + 1;
      while (*line == ' ') line++;
      return line;
    }
    const char *next = memchr(line, '\n', (size_t)(end - line));
    if (next == NULL) return NULL;
    line = next + 1;
  }
  return NULL;
}

/** The size of an HTTP message with its body, or 0 when it has not come whole. Sets where the body begins. */
static inline size_t http_size(const uint8_t *data, size_t length, size_t *body) {
  const char *text = (const char *)data;
  const char *blank = memmem(text, length, "\r\n\r\n", 4);
  if (blank == NULL) return 0;
  const char *value = header_value(text, blank + 2, "content-length");
  *body = (size_t)(blank + 4 - text);
  size_t size = *body + (value == NULL ? 0 : strtoul(value, NULL, 10));
  return size <= length ? size : 0;
}

struct frame {
  enum opcode opcode;
  uint8_t *payload;
  size_t length;
};

/** Reads one frame and takes its mask off in place. @returns its size with its header, or 0 when it has not come whole. */
static inline size_t read_frame(uint8_t *data, size_t length, struct frame *frame) {
  if (length < 2) return 0;
  size_t at = 2, size = data[1] & 127;
  if (size >= 126) {
    size_t wide = size == 126 ? 2 : 8;
    if (length < at + wide) return 0;
    size = 0;
    for (size_t i = 0; i < wide; i++) size = size << 8 | data[at++];
  }
  uint8_t *mask = data + at;
  if (data[1] & 128) at += 4;
  if (length < at || length - at < size) return 0;
  *frame = (struct frame){data[0] & 15, data + at, size};
  if (data[1] & 128) {
    for (size_t i = 0; i < size; i++) frame->payload[i] ^= mask[i % 4];
  }
  return at + size;
}

/** Writes the header of an unfragmented frame without a mask. @returns its size. */
static inline size_t frame_header(uint8_t *out, enum opcode opcode, size_t length) {
  out[0] = 128 | opcode;
  if (length < 126) {
    out[1] = (uint8_t)length;
    return 2;
  }
  if (length > 0xffff) die("a frame of %zu bytes is not made here", length);
  out[1] = 126;
  out[2] = (uint8_t)(length >> 8);
  out[3] = (uint8_t)length;
  return 4;
}
