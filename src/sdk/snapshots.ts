// The operations on snapshots, and on backups as a whole.
import type { ArchiveResource, StoreBackupsDocument } from "../resources/shared/backup-schema.ts";
import type { NewSnapshotBody, SnapshotStatus } from "../resources/shared/snapshot-schema.ts";
import type { Connection } from "./connection.ts";
import type { Identifier, PageDocument, SingleDocument } from "./documents.ts";
import { everyPage } from "./every-page.ts";
import { newIdempotencyKey } from "./idempotency-key.ts";

/** The backups of Pilvi's own store. */
export type StoreBackups = StoreBackupsDocument["data"];

/** The description of a new snapshot. */
export type NewSnapshot = NewSnapshotBody;

/** Pilvi holds an answer for 60 seconds at most; the rest is for the network. */
const HELD_TIMEOUT_MS = 75_000;

/** How a request that makes something is sent. */
export interface CreateOptions {
  /** Makes repetitions over several processes safe; by default each call has its own. */
  idempotencyKey?: string;
}

/** Makes something of an instance. */
export async function createFrom<Document>(
  connection: Connection,
  path: string,
  body: unknown,
  { idempotencyKey = newIdempotencyKey() }: CreateOptions,
): Promise<Document> {
  const headers = { "Idempotency-Key": idempotencyKey };
  return await connection.send<Document>({ method: "POST", path, body, headers });
}

/** The snapshots of one kind of instance. */
export class Snapshots<Resource extends Identifier> {
  readonly #connection: Connection;
  readonly #instances: string;
  readonly #snapshots: string;

  /** @param paths of the instances, such as `/caches`, and of their snapshots, such as `/cache-snapshots`. */
  constructor(connection: Connection, paths: { instances: string; snapshots: string }) {
    this.#connection = connection;
    this.#instances = paths.instances;
    this.#snapshots = paths.snapshots;
  }

  /** Makes a snapshot of the instance with this id; it is `available` later. */
  async create(
    instanceId: string,
    body: NewSnapshot,
    options: CreateOptions = {},
  ): Promise<SingleDocument<Resource>> {
    const path = this.#pathOf(instanceId);
    return await createFrom<SingleDocument<Resource>>(this.#connection, path, body, options);
  }

  /** Reads one page of the snapshots of an instance, the oldest first; also of a deleted instance. */
  async list(instanceId: string, { page = 1 }: { page?: number } = {}): Promise<PageDocument<Resource>> {
    const query = new URLSearchParams({ page: String(page) });
    return await this.#connection.send<PageDocument<Resource>>({
      method: "GET",
      path: this.#pathOf(instanceId),
      query,
    });
  }

  /** Reads all snapshots of an instance, over all pages. */
  all(instanceId: string): AsyncGenerator<Resource> {
    return everyPage<Resource>(this.#connection, this.#pathOf(instanceId));
  }

  /**
   * Reads one snapshot.
   * @param options.wait lets Pilvi hold the answer until the snapshot has this status, for 60 seconds at most.
   */
  async get(
    id: string,
    { wait, signal }: { wait?: SnapshotStatus; signal?: AbortSignal } = {},
  ): Promise<SingleDocument<Resource>> {
    return await this.#connection.send<SingleDocument<Resource>>({
      method: "GET",
      path: `${this.#snapshots}/${encodeURIComponent(id)}`,
      query: new URLSearchParams(wait && { wait }),
      signal,
      ...(wait !== undefined && { timeoutMs: HELD_TIMEOUT_MS }),
    });
  }

  /** Deletes a snapshot, or gives it up while it is being made. */
  async delete(id: string): Promise<void> {
    await this.#connection.send({ method: "DELETE", path: `${this.#snapshots}/${encodeURIComponent(id)}` });
  }

  #pathOf(instanceId: string): string {
    return `${this.#instances}/${encodeURIComponent(instanceId)}/snapshots`;
  }
}

/** Everything of the organization that has backups, deleted resources as well. */
export class Backups {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Reads all archives, over all pages. */
  all(): AsyncGenerator<ArchiveResource> {
    return everyPage<ArchiveResource>(this.#connection, "/backups");
  }

  /** Reads the backups of Pilvi's own store; null for others than its operator. */
  async store(): Promise<StoreBackups> {
    const path = "/backups/store";
    return (await this.#connection.send<StoreBackupsDocument>({ method: "GET", path })).data;
  }
}
