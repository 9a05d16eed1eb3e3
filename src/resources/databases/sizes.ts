// The sizes of database clusters that run on a machine of a fixed size, and the resources of each size.

const MEBIBYTE = 1024 ** 2;
const GIBIBYTE = 1024 ** 3;

/** The resources of a size. */
export interface Machine {
  cpus: number;
  memoryBytes: number;
}

const platformMachines = {
  "mysql-flex-512mb": { cpus: 1, memoryBytes: 512 * MEBIBYTE },
  "mysql-flex-1gb": { cpus: 1, memoryBytes: GIBIBYTE },
  "mysql-flex-2gb": { cpus: 1, memoryBytes: 2 * GIBIBYTE },
  "mysql-pro-4gb": { cpus: 1, memoryBytes: 4 * GIBIBYTE },
  "mysql-pro-8gb": { cpus: 2, memoryBytes: 8 * GIBIBYTE },
  "mysql-pro-16gb": { cpus: 4, memoryBytes: 16 * GIBIBYTE },
  "mysql-pro-32gb": { cpus: 8, memoryBytes: 32 * GIBIBYTE },
  // Names that older clients still send.
  "db-flex.m-1vcpu-512mb": { cpus: 1, memoryBytes: 512 * MEBIBYTE },
  "db-flex.m-1vcpu-1gb": { cpus: 1, memoryBytes: GIBIBYTE },
  "db-flex.m-1vcpu-2gb": { cpus: 1, memoryBytes: 2 * GIBIBYTE },
  "db-flex.m-1vcpu-4gb": { cpus: 1, memoryBytes: 4 * GIBIBYTE },
  "db-pro.m-1vcpu-4gb": { cpus: 1, memoryBytes: 4 * GIBIBYTE },
  "db-pro.m-2vcpu-8gb": { cpus: 2, memoryBytes: 8 * GIBIBYTE },
  "db-pro.m-4vcpu-16gb": { cpus: 4, memoryBytes: 16 * GIBIBYTE },
  "db-pro.m-8vcpu-32gb": { cpus: 8, memoryBytes: 32 * GIBIBYTE },
} satisfies Record<string, Machine>;

/** Sizes of the public cloud's machines: virtual processors by the name within a family. */
const nodeCpus = {
  large: 2,
  xlarge: 4,
  "2xlarge": 8,
  "4xlarge": 16,
  "8xlarge": 32,
  "12xlarge": 48,
  "16xlarge": 64,
  "24xlarge": 96,
  "48xlarge": 192,
} as const;

/** The largest size of each family, and its memory for each virtual processor in GiB. */
const families = {
  m8g: { gibPerCpu: 4, largest: "48xlarge" },
  m7g: { gibPerCpu: 4, largest: "16xlarge" },
  r8g: { gibPerCpu: 8, largest: "48xlarge" },
} as const;

const burstableMachines = {
  "db.t4g.micro": { cpus: 2, memoryBytes: GIBIBYTE },
  "db.t4g.small": { cpus: 2, memoryBytes: 2 * GIBIBYTE },
  "db.t4g.medium": { cpus: 2, memoryBytes: 4 * GIBIBYTE },
  "db.t4g.large": { cpus: 2, memoryBytes: 8 * GIBIBYTE },
  "db.t4g.xlarge": { cpus: 4, memoryBytes: 16 * GIBIBYTE },
  "db.t4g.2xlarge": { cpus: 8, memoryBytes: 32 * GIBIBYTE },
} satisfies Record<string, Machine>;

type PlatformSize = keyof typeof platformMachines;
export type ManagedSize =
  | `db.${keyof typeof families}.${keyof typeof nodeCpus}`
  | keyof typeof burstableMachines;

const managedMachines = new Map<ManagedSize, Machine>(
  Object.entries(burstableMachines) as [ManagedSize, Machine][],
);
for (const [family, { gibPerCpu, largest }] of entriesOf(families)) {
  for (const [size, cpus] of entriesOf(nodeCpus)) {
    if (cpus > nodeCpus[largest]) continue;
    managedMachines.set(`db.${family}.${size}`, { cpus, memoryBytes: cpus * gibPerCpu * GIBIBYTE });
  }
}

/** The sizes of platform MySQL and of the managed types, the smallest of a family first. */
export const platformSizes = Object.keys(platformMachines) as PlatformSize[];
export const managedSizes: readonly ManagedSize[] = [...managedMachines.keys()];

/** The resources of a size. */
export function machineOf(size: PlatformSize | ManagedSize): Machine {
  const machine =
    size in platformMachines
      ? platformMachines[size as PlatformSize]
      : managedMachines.get(size as ManagedSize);
  if (machine === undefined) throw new Error(`the size ${size} stands for nothing`);
  return machine;
}

/** Whether a cluster of this size can sleep. */
export function isFlexible(size: PlatformSize): boolean {
  return size.startsWith("mysql-flex-") || size.startsWith("db-flex.");
}

/** The members of an object whose names are all known. */
function entriesOf<Name extends string, Value>(object: Record<Name, Value>): [Name, Value][] {
  return Object.entries(object) as [Name, Value][];
}
