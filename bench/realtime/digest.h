// SHA-1, SHA-256, MD5, HMAC-SHA256, base64 and hex: what a WebSocket handshake and a signed publish need, without a library.
#pragma once
#include <stdint.h>
#include <string.h>

#define BLOCK 64

/** One hash being made; the three differ in their state, their compression and the order of their bytes. */
struct hash {
  void (*compress)(uint32_t *state, const uint8_t *block);
  int words;
  int big_endian;
  uint32_t state[8];
  uint64_t length;
  uint8_t block[BLOCK];
};

static inline uint32_t rotate_left(uint32_t x, int n) { return (x << n) | (x >> (32 - n)); }

static inline uint32_t load_big(const uint8_t *p) {
  return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline uint32_t load_little(const uint8_t *p) {
  return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

static inline void sha1_compress(uint32_t *state, const uint8_t *block) {
  uint32_t w[80];
  for (int i = 0; i < 16; i++) w[i] = load_big(block + 4 * i);
  for (int i = 16; i < 80; i++) w[i] = rotate_left(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
  uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
  for (int i = 0; i < 80; i++) {
    uint32_t f, k;
    if (i < 20) f = (b & c) | (~b & d), k = 0x5a827999;
    else if (i < 40) f = b ^ c ^ d, k = 0x6ed9eba1;
    else if (i < 60) f = (b & c) | (b & d) | (c & d), k = 0x8f1bbcdc;
    else f = b ^ c ^ d, k = 0xca62c1d6;
    uint32_t next = rotate_left(a, 5) + f + e + k + w[i];
    e = d, d = c, c = rotate_left(b, 30), b = a, a = next;
  }
  state[0] += a, state[1] += b, state[2] += c, state[3] += d, state[4] += e;
}

static const uint32_t SHA256_K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static inline uint32_t rotate_right(uint32_t x, int n) { return (x >> n) | (x << (32 - n)); }

static inline void sha256_compress(uint32_t *state, const uint8_t *block) {
  uint32_t w[64], s[8];
  for (int i = 0; i < 16; i++) w[i] = load_big(block + 4 * i);
  for (int i = 16; i < 64; i++) {
    uint32_t low = rotate_right(w[i - 15], 7) ^ rotate_right(w[i - 15], 18) ^ (w[i - 15] >> 3);
    uint32_t high = rotate_right(w[i - 2], 17) ^ rotate_right(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + low + w[i - 7] + high;
  }
  memcpy(s, state, sizeof s);
  for (int i = 0; i < 64; i++) {
    uint32_t e = rotate_right(s[4], 6) ^ rotate_right(s[4], 11) ^ rotate_right(s[4], 25);
    uint32_t t1 = s[7] + e + ((s[4] & s[5]) ^ (~s[4] & s[6])) + SHA256_K[i] + w[i];
    uint32_t a = rotate_right(s[0], 2) ^ rotate_right(s[0], 13) ^ rotate_right(s[0], 22);
    uint32_t t2 = a + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
    memmove(s + 1, s, 7 * sizeof *s);
    s[4] += t1;
    s[0] = t1 + t2;
  }
  for (int i = 0; i < 8; i++) state[i] += s[i];
}

static const uint32_t MD5_K[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391,
};

static inline void md5_compress(uint32_t *state, const uint8_t *block) {
  static const int shifts[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
  uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
  for (int i = 0; i < 64; i++) {
    uint32_t f;
    int word;
    if (i < 16) f = (b & c) | (~b & d), word = i;
    else if (i < 32) f = (d & b) | (~d & c), word = (5 * i + 1) % 16;
    else if (i < 48) f = b ^ c ^ d, word = (3 * i + 5) % 16;
    else f = c ^ (b | ~d), word = (7 * i) % 16;
    uint32_t sum = a + f + MD5_K[i] + load_little(block + 4 * word);
    a = d, d = c, c = b;
    b += rotate_left(sum, shifts[i / 16][i % 4]);
  }
  state[0] += a, state[1] += b, state[2] += c, state[3] += d;
}

static inline struct hash sha1(void) {
  return (struct hash){.compress = sha1_compress, .words = 5, .big_endian = 1,
                       .state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0}};
}

static inline struct hash md5(void) {
  return (struct hash){.compress = md5_compress, .words = 4, .big_endian = 0,
                       .state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476}};
}

static inline struct hash sha256(void) {
  return (struct hash){.compress = sha256_compress, .words = 8, .big_endian = 1,
                       .state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

static inline void hash_add(struct hash *hash, const void *data, size_t length) {
  const uint8_t *from = data;
  while (length > 0) {
    size_t used = hash->length % BLOCK;
    size_t part = BLOCK - used < length ? BLOCK - used : length;
    memcpy(hash->block + used, from, part);
    hash->length += part;
    from += part;
    length -= part;
    if (used + part == BLOCK) hash->compress(hash->state, hash->block);
  }
}

/** Writes as many bytes as the hash has. @returns their number. */
static inline size_t hash_end(struct hash *hash, uint8_t *out) {
  static const uint8_t padding[BLOCK] = {0x80};
  uint64_t bits = hash->length * 8;
  uint8_t tail[8];
  for (int i = 0; i < 8; i++) tail[i] = (uint8_t)(bits >> (hash->big_endian ? 56 - 8 * i : 8 * i));
  hash_add(hash, padding, 1 + (BLOCK + 55 - hash->length % BLOCK) % BLOCK);
  hash_add(hash, tail, sizeof tail);
  for (int i = 0; i < 4 * hash->words; i++) {
    out[i] = (uint8_t)(hash->state[i / 4] >> (hash->big_endian ? 24 - 8 * (i % 4) : 8 * (i % 4)));
  }
  return (size_t)hash->words * 4;
}

/** A secret that signs; what every signature begins with is made once. */
struct hmac {
  struct hash inner, outer;
};

static inline struct hmac hmac_sha256(const void *secret, size_t length) {
  struct hmac hmac = {sha256(), sha256()};
  uint8_t key[BLOCK] = {0}, pad[BLOCK];
  if (length > BLOCK) {
    struct hash hash = sha256();
    hash_add(&hash, secret, length);
    hash_end(&hash, key);
  } else {
    memcpy(key, secret, length);
  }
  for (int i = 0; i < BLOCK; i++) pad[i] = key[i] ^ 0x36;
  hash_add(&hmac.inner, pad, BLOCK);
  for (int i = 0; i < BLOCK; i++) pad[i] = key[i] ^ 0x5c;
  hash_add(&hmac.outer, pad, BLOCK);
  return hmac;
}

/** Writes the 32 bytes of a signature. */
static inline void hmac_sign(const struct hmac *hmac, const void *data, size_t length, uint8_t *out) {
  struct hash inner = hmac->inner, outer = hmac->outer;
  hash_add(&inner, data, length);
  hash_add(&outer, out, hash_end(&inner, out));
  hash_end(&outer, out);
}

/** Writes two digits for each byte, and a zero. */
static inline void to_hex(const uint8_t *bytes, size_t length, char *out) {
  for (size_t i = 0; i < length; i++) {
    *out++ = "0123456789abcdef"[bytes[i] >> 4];
    *out++ = "0123456789abcdef"[bytes[i] & 15];
  }
  *out = 0;
}

/** Writes four characters for each three bytes begun, and a zero. */
static inline void to_base64(const uint8_t *bytes, size_t length, char *out) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < length; i += 3) {
    uint32_t group = (uint32_t)bytes[i] << 16;
    if (i + 1 < length) group |= (uint32_t)bytes[i + 1] << 8;
    if (i + 2 < length) group |= bytes[i + 2];
    *out++ = digits[group >> 18];
    *out++ = digits[group >> 12 & 63];
    *out++ = i + 1 < length ? digits[group >> 6 & 63] : '=';
    *out++ = i + 2 < length ? digits[group & 63] : '=';
  }
  *out = 0;
}

/** The answer to a Sec-WebSocket-Key: 28 characters and a zero. */
static inline void accept_key(const char *key, size_t length, char *out) {
  static const char suffix[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  uint8_t digest[20];
  struct hash hash = sha1();
  hash_add(&hash, key, length);
  hash_add(&hash, suffix, sizeof suffix - 1);
  to_base64(digest, hash_end(&hash, digest), out);
}
