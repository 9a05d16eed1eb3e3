// How much memory a Redis or Valkey takes beside its keys and values, which are all that a customer orders.

/** The most connections of clients. */
export const MAX_CLIENTS = 10_000;
/** Connections of the host. Behind the gateway, clients leave them free. */
export const OWN_CLIENTS = 32;
/** What a client with an unfinished command and a short answer takes: 37,504 bytes in Valkey 8.1 and in Redis 7.0. */
const SMALL_CLIENT_BYTES = 40 * 1024;
const LEAST_CLIENT_BYTES = (MAX_CLIENTS + OWN_CLIENTS) * SMALL_CLIENT_BYTES;
/** The program itself, scripts, the buffers of a log rewrite, and memory that the allocator cannot return. */
const OWN_BYTES = 128 * 1024 ** 2;

/**
 * The most that all clients together may have in flight, in bytes: incomplete commands and unread answers. It has room
 * for all connections when each does little, and for values of half the cache.
 */
export function clientMemory(memoryBytes: number): number {
  return Math.max(LEAST_CLIENT_BYTES, Math.floor(memoryBytes / 2));
}

/**
 * The most memory that the engine may take in all, in bytes. A child that saves shares its parent's memory, and each
 * page that changes meanwhile exists twice: at worst all of them.
 */
export function totalMemory(memoryBytes: number): number {
  return 2 * memoryBytes + clientMemory(memoryBytes) + OWN_BYTES;
}
