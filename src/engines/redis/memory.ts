// How much memory a Redis or Valkey takes beside its keys and values, which alone are what a customer orders.

const LEAST_CLIENT_BYTES = 256 * 1024 ** 2;
/** The program itself, scripts, what a log is rewritten through, and what the allocator cannot give back. */
const OWN_BYTES = 128 * 1024 ** 2;

/**
 * What all clients together may have under way, in bytes: commands that are not whole yet and answers that are not read. It has room for
 * 10,000 connections that each do little, and for values of half the cache.
 */
export function clientMemory(memoryBytes: number): number {
  return Math.max(LEAST_CLIENT_BYTES, Math.floor(memoryBytes / 2));
}

/**
 * What the engine may take in all, in bytes. A child that saves has the memory of its parent, and each page that is changed meanwhile is
 * there twice: at worst all of them.
 */
export function totalMemory(memoryBytes: number): number {
  return 2 * memoryBytes + clientMemory(memoryBytes) + OWN_BYTES;
}
