// The quotas of organizations, as a Pilvi is set up.
import type { z } from "zod";
import { byteSize, wholeNumber } from "./setting-fields.ts";

/** The most that an organization may have; 0 is no limit. */
export interface Quotas {
  /** The number of resources, over all kinds. */
  resources: number;
  caches: number;
  databases: number;
  websockets: number;
  /** The number of environments of applications. */
  applications: number;
  /** The memory that the sizes of all its resources stand for, in bytes. */
  memoryBytes: number;
  /** The measured storage on the disk of the host, in bytes. */
  storageBytes: number;
  /** The connections of its database and WebSocket clusters. */
  connections: number;
  /** The ports of a host that its instances may have. */
  ports: number;
}

/** The settings in the environment. */
export const quotaFields = {
  PILVI_QUOTA_RESOURCES: wholeNumber.default(5_000),
  PILVI_QUOTA_CACHES: wholeNumber.default(0),
  PILVI_QUOTA_DATABASES: wholeNumber.default(0),
  PILVI_QUOTA_WEBSOCKETS: wholeNumber.default(0),
  PILVI_QUOTA_APPLICATIONS: wholeNumber.default(0),
  PILVI_QUOTA_MEMORY: byteSize.default(2048 * 1024 ** 4),
  PILVI_QUOTA_STORAGE: byteSize.default(1024 ** 4),
  PILVI_QUOTA_CONNECTIONS: wholeNumber.default(50_000_000),
  PILVI_QUOTA_PORTS: wholeNumber.optional(),
};

type GivenQuotas = z.infer<z.ZodObject<typeof quotaFields>>;

/** The settings by their names in the code. @param portRange half of which is the default for ports. */
export function quotaSettings(env: GivenQuotas, { first, last }: { first: number; last: number }): Quotas {
  return {
    resources: env.PILVI_QUOTA_RESOURCES,
    caches: env.PILVI_QUOTA_CACHES,
    databases: env.PILVI_QUOTA_DATABASES,
    websockets: env.PILVI_QUOTA_WEBSOCKETS,
    applications: env.PILVI_QUOTA_APPLICATIONS,
    memoryBytes: env.PILVI_QUOTA_MEMORY,
    storageBytes: env.PILVI_QUOTA_STORAGE,
    connections: env.PILVI_QUOTA_CONNECTIONS,
    ports: env.PILVI_QUOTA_PORTS ?? Math.ceil((last - first + 1) / 2),
  };
}
