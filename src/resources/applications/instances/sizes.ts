// The sizes of instances: processors, and memory.

const GIBIBYTE = 1024 ** 3;
const MEBIBYTE = 1024 ** 2;

const classes = ["c", "g", "m"] as const;
const cpuCounts = [1, 2, 4, 8] as const;

/** Memory of the smallest class with one processor; the next class, and twice the processors, have twice of it. */
const smallestMib = { flex: 256, pro: 1_024 } as const;

/** A size, as an order names it. */
export interface InstanceSize {
  /** Such as `flex.g-1vcpu-512mb`. */
  name: string;
  /** `Flex` or `Pro`. */
  label: string;
  cpuType: keyof typeof smallestMib;
  cpuClass: (typeof classes)[number];
  cpus: number;
  memoryBytes: number;
}

export const instanceSizes: readonly InstanceSize[] = Object.entries(smallestMib).flatMap(([type, mib]) =>
  cpuCounts.flatMap((cpus) =>
    classes.map((cpuClass, at) => {
      const memoryBytes = mib * cpus * 2 ** at * MEBIBYTE;
      const name = `${type}.${cpuClass}-${cpus}vcpu-${memoryText(memoryBytes)}`;
      const label = type === "flex" ? "Flex" : "Pro";
      return { name, label, cpuType: type as keyof typeof smallestMib, cpuClass, cpus, memoryBytes };
    }),
  ),
);

export const DEFAULT_SIZE = "flex.g-1vcpu-512mb";

/** The size of this name. @throws Error for a name that no order can have. */
export function sizeNamed(name: string): InstanceSize {
  const size = instanceSizes.find((each) => each.name === name);
  if (size === undefined) throw new Error(`there is no size ${name}`);
  return size;
}

function memoryText(bytes: number): string {
  return bytes < GIBIBYTE ? `${bytes / MEBIBYTE}mb` : `${bytes / GIBIBYTE}gb`;
}
