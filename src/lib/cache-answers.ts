// What a Valkey or Redis answers to PING while it serves.
import { messageOf } from "./errors.ts";

/** Whether an error of PING comes from a cache that serves: its last save failed, or a script has run for too long. */
export function isOfServingCache(error: unknown): boolean {
  return /MISCONF|BUSY/.test(messageOf(error));
}
