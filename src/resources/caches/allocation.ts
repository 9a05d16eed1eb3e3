// What a cache takes of its organization's quotas.
import type { Allocation } from "../kind.ts";
import type { AllocationFields } from "../shared/quotas.ts";
import { memoryBytesOf } from "./sizes.ts";
import type { CacheRow } from "./store.ts";

/** The fields that a customer can change to take less. */
export const allocationFields: AllocationFields = { memory: "size", connections: "type" };

/** Every cache takes as many connections as any other, so they are not counted. */
export function allocationOf({ size }: Pick<CacheRow, "size">): Allocation {
  return { memoryBytes: memoryBytesOf(size), connections: 0 };
}
