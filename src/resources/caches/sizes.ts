// The sizes of caches: the types that offer each size, its memory, and its label.

export const cacheTypes = [
  "hosted_redis",
  "platform_valkey",
  "provider_managed_redis",
  "provider_managed_valkey",
] as const;

/** The types that a customer orders; `meta.engine` names the engine behind a type. */
export type CacheType = (typeof cacheTypes)[number];

export const cacheTypeLabels: Record<CacheType, string> = {
  hosted_redis: "Hosted Redis",
  platform_valkey: "Valkey",
  provider_managed_redis: "Managed Redis",
  provider_managed_valkey: "Managed Valkey",
};

const MEBIBYTE = 1024 ** 2;
const GIBIBYTE = 1024 ** 3;

const hostedSizes = ["250mb", "1gb", "2.5gb", "5gb", "12gb", "50gb", "100gb", "500gb"] as const;

const valkeySizes = [
  "valkey-flex-250mb",
  "valkey-flex-1gb",
  "valkey-flex-2.5gb",
  "valkey-pro.250mb",
  "valkey-pro.1gb",
  "valkey-pro.2.5gb",
  "valkey-pro.5gb",
  "valkey-pro.12gb",
  "valkey-pro.25gb",
  "valkey-pro.50gb",
] as const;

const nodeSizes = ["large", "xlarge", "2xlarge", "4xlarge", "8xlarge", "12xlarge", "16xlarge"] as const;
const nodeFamilies = ["r7g", "m7g", "r8g", "m8g", "c7gn", "c8gn"] as const;

/** Memory of the public cloud's node types, in GiB: by the family's first letter, in the order of `nodeSizes`. */
const nodeMemoryGib: Record<"c" | "m" | "r", Record<(typeof nodeSizes)[number], number>> = {
  c: {
    large: 3.09,
    xlarge: 6.38,
    "2xlarge": 12.94,
    "4xlarge": 26.05,
    "8xlarge": 52.26,
    "12xlarge": 78.56,
    "16xlarge": 105.81,
  },
  m: {
    large: 6.38,
    xlarge: 12.93,
    "2xlarge": 26.04,
    "4xlarge": 52.26,
    "8xlarge": 103.68,
    "12xlarge": 157.12,
    "16xlarge": 209.55,
  },
  r: {
    large: 13.07,
    xlarge: 26.32,
    "2xlarge": 52.82,
    "4xlarge": 105.81,
    "8xlarge": 209.55,
    "12xlarge": 317.77,
    "16xlarge": 419.09,
  },
};

const burstableMemoryGib = {
  "managed.cache.t4g.micro": 0.5,
  "managed.cache.t4g.small": 1.37,
  "managed.cache.t4g.medium": 3.09,
};

type HostedSize = (typeof hostedSizes)[number];
type ValkeySize = (typeof valkeySizes)[number];
type ManagedSize =
  | `managed.cache.${(typeof nodeFamilies)[number]}.${(typeof nodeSizes)[number]}`
  | keyof typeof burstableMemoryGib;

export type CacheSize = HostedSize | ValkeySize | ManagedSize;

const managedMemoryGib = new Map<CacheSize, number>([
  ...nodeFamilies.flatMap((family) =>
    nodeSizes.map((size): [CacheSize, number] => [
      `managed.cache.${family}.${size}`,
      nodeMemoryGib[classOf(family)][size],
    ]),
  ),
  ...(Object.entries(burstableMemoryGib) as [CacheSize, number][]),
]);

const managedSizes: readonly CacheSize[] = [...managedMemoryGib.keys()];

/** The sizes of each type, the smallest of a family first. */
export const sizesByType: Record<CacheType, readonly CacheSize[]> = {
  hosted_redis: hostedSizes,
  platform_valkey: valkeySizes,
  provider_managed_redis: managedSizes,
  provider_managed_valkey: managedSizes,
};

export const cacheSizes: readonly CacheSize[] = [...hostedSizes, ...valkeySizes, ...managedSizes];

/** The memory for keys and values that a size stands for, in bytes. */
export function memoryBytesOf(size: CacheSize): number {
  const gib = managedMemoryGib.get(size);
  if (gib !== undefined) return Math.round(gib * GIBIBYTE);
  const [, amount, unit] = /(\d+(?:\.\d+)?)(mb|gb)$/.exec(size) ?? [];
  if (amount === undefined) throw new Error(`the size ${size} has no memory`);
  return Number(amount) * (unit === "mb" ? MEBIBYTE : GIBIBYTE);
}

/** The label of a size in a list, such as `Pro 2.5 GB` or `r7g.large, 13.07 GiB`. */
export function labelOf(size: CacheSize): string {
  const gib = managedMemoryGib.get(size);
  if (gib !== undefined) return `${size.replace("managed.cache.", "")}, ${gib} GiB`;
  const [, line, amount, unit] = /^(?:valkey-(flex|pro)[-.])?([\d.]+)(mb|gb)$/.exec(size) ?? [];
  const prefix = line === undefined ? "" : `${line === "flex" ? "Flex" : "Pro"} `;
  return `${prefix}${amount} ${unit?.toUpperCase()}`;
}

function classOf(family: (typeof nodeFamilies)[number]): "c" | "m" | "r" {
  if (family.startsWith("c")) return "c";
  return family.startsWith("m") ? "m" : "r";
}
