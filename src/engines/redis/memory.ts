// How much memory a Redis or Valkey takes beside its keys and values, which are all that a customer orders.

const LEAST_CLIENT_BYTES = 256 * 1024 ** 2;
/** The program itself, scripts, the buffers of a log rewrite, and memory that the allocator cannot return. */
const OWN_BYTES = 128 * 1024 ** 2;

/**
 * The most that all clients together may have in flight, in bytes: incomplete commands and unread answers. It has room
 * for 10,000 connections that each do little, and for values of half the cache.
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
