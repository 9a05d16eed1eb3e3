// The part of its organization's quotas that a cache takes.
import type { Allocation } from "../kind.ts";
import type { AllocationFields } from "../shared/quotas.ts";
import { memoryBytesOf } from "./sizes.ts";
import type { CacheRow } from "./store.ts";

/** The fields with which a customer can take less. */
export const allocationFields: AllocationFields = { memory: "size", connections: "type" };

/** Connections are not counted, since every cache may have the same number. */
export function allocationOf({ size }: Pick<CacheRow, "size">): Allocation {
  return { memoryBytes: memoryBytesOf(size), connections: 0 };
}
