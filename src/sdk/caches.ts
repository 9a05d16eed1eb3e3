// The operations on caches.
import type { z } from "zod";
import type {
  cacheChange,
  CacheMetrics,
  CacheResource,
  CacheStatus,
  cacheTypeList,
  newCache,
} from "../resources/caches/schema.ts";
import type { InstanceMetricPeriod } from "../resources/shared/metrics-schema.ts";
import { Collection } from "./collection.ts";
import type { Connection } from "./connection.ts";
import type { Identifier, PageDocument, SingleDocument } from "./documents.ts";

/** The description of a new cache; everything but type, name, region and size may be left out. */
export type NewCache = z.input<typeof newCache>;
/** The members of a cache to change; the rest stays as it is. */
export type CacheChange = z.input<typeof cacheChange>;
export type CacheDocument = SingleDocument<CacheResource>;
export type CachePage = PageDocument<CacheResource>;
/** The types that can be ordered. */
export type CacheTypeList = z.output<typeof cacheTypeList>;

/** The types of the cache collection. */
interface CacheKind {
  body: NewCache;
  resource: CacheResource;
  included: Identifier;
  status: CacheStatus;
  filter: "type" | "status" | "region";
}

/** Shows only caches whose attributes have these values. */
export type CacheFilter = Partial<Record<CacheKind["filter"], string>>;

/** The caches of the token's organization. */
export class Caches extends Collection<CacheKind> {
  constructor(connection: Connection) {
    super(connection, "/caches");
  }

  /** Changes a cache; another size, eviction policy or reach restarts its engine. */
  async update(id: string, change: CacheChange): Promise<CacheDocument> {
    return await this.change<CacheDocument>(id, change);
  }

  /** Puts a cache that may hibernate to sleep; resolves when it sleeps. */
  async suspend(id: string): Promise<CacheDocument> {
    return await this.putToSleep<CacheDocument>(id);
  }

  /**
   * Gives a cache a new password; the former one is refused when the cache is `available` again.
   * @param options.idempotencyKey makes repetitions over several processes safe; by default each call has its own.
   */
  async rotateCredentials(id: string, options: { idempotencyKey?: string } = {}): Promise<CacheDocument> {
    return await this.rotate<CacheDocument>(id, options);
  }

  /** Reads the metrics, of the last six hours by default; nothing is woken. */
  async metrics(id: string, period?: InstanceMetricPeriod): Promise<CacheMetrics> {
    const query = new URLSearchParams(period && { period });
    return await this.connection.send<CacheMetrics>({
      method: "GET",
      path: `${this.pathOf(id)}/metrics`,
      query,
    });
  }

  /** Reads the available types, with their sizes and regions. */
  async types(): Promise<CacheTypeList> {
    return await this.connection.send<CacheTypeList>({ method: "GET", path: "/caches/types" });
  }
}
