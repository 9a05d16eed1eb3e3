// How much of a machine's memory one instance may be granted.

/** Engines need memory beyond their settings, and the machine needs some for everything else. */
const LARGEST_SHARE_OF_MACHINE = 0.8;

/** The requested memory in bytes, or less on a machine that does not have it. */
export function grantedMemory(desiredBytes: number, machineBytes: number): number {
  return Math.min(desiredBytes, Math.floor(machineBytes * LARGEST_SHARE_OF_MACHINE));
}

/** A share of some memory in whole megabytes, for a setting with a unit, within bounds. */
export function megabytes(bytes: number, bounds: { min: number; max: number }): number {
  return Math.round(Math.min(bounds.max, Math.max(bounds.min, bytes / 1024 ** 2)));
}
