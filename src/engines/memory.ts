// How much of a machine's memory one instance may be granted.

/** Engines need memory beside what they are told to use, and the machine needs some for everything else. */
const LARGEST_SHARE_OF_MACHINE = 0.8;

/** The wished-for memory in bytes, or less on a machine that has not got it. */
export function grantedMemory(wishedBytes: number, machineBytes: number): number {
  return Math.min(wishedBytes, Math.floor(machineBytes * LARGEST_SHARE_OF_MACHINE));
}

/** A share of some memory in whole megabytes, for a setting with a unit, within bounds. */
export function megabytes(bytes: number, bounds: { min: number; max: number }): number {
  return Math.round(Math.min(bounds.max, Math.max(bounds.min, bytes / 1024 ** 2)));
}
