// Reports logs of archives that lag behind: once, until they have caught up.
import type { ArchiveState } from "../../../contracts/keeper.ts";
import type { Log } from "../../../lib/log.ts";
import type { Database } from "../../../store/database.ts";
import { recordEvent } from "../events/record.ts";
import { INSTANCE_KINDS } from "../instance-kinds.ts";
import type { ArchiveSource, BackedUpKind } from "./archives.ts";

/** A log lags when its oldest change outside of the archive is older, and has caught up well below that. */
const LAGS_AFTER_SECONDS = 60;
const CAUGHT_UP_SECONDS = 30;

interface Lagging {
  organizationId: string;
  kind: BackedUpKind;
  source: ArchiveSource;
}

/** The alarm about the archives of one host. */
export class LagAlarm {
  readonly #db: Database;
  readonly #log: Log;
  readonly #hostId: string;
  /** The archives whose lag is reported; null until the store was asked. */
  #reported: Set<string> | null = null;

  constructor(db: Database, hostId: string, log: Log) {
    this.#db = db;
    this.#hostId = hostId;
    this.#log = log;
  }

  /** Takes in the states of all archives. An error may be followed by the same states. */
  async take(states: readonly ArchiveState[]): Promise<void> {
    this.#reported ??= await this.#load();
    for (const { id, log } of states) {
      const lagSeconds = log?.lagSeconds ?? 0;
      const isReported = this.#reported.has(id);
      if (lagSeconds > LAGS_AFTER_SECONDS && !isReported) {
        await this.#begin(id, lagSeconds);
        this.#reported.add(id);
      } else if (lagSeconds < CAUGHT_UP_SECONDS && isReported) {
        await this.#db`update archives set lagging_since = null where id = ${id}`;
        this.#reported.delete(id);
        this.#log.info({ archive: id }, "a log has caught up");
      }
    }
  }

  async #load(): Promise<Set<string>> {
    const rows = await this.#db<{ id: string }[]>`
      select id from archives where host_id = ${this.#hostId} and lagging_since is not null`;
    return new Set(rows.map(({ id }) => id));
  }

  async #begin(id: string, lagSeconds: number): Promise<void> {
    this.#log.error({ archive: id, lagSeconds }, "a log lags behind");
    await this.#db.begin(async (tx) => {
      const [row] = await tx<Lagging[]>`
        update archives set lagging_since = now() where id = ${id} and lagging_since is null and deleted_at is null
        returning organization_id as "organizationId", kind, source`;
      if (row === undefined) return;
      const { organizationId, kind, source } = row;
      const resource = { type: INSTANCE_KINDS[kind].type, id, name: source.name };
      const details = { lag_seconds: Math.round(lagSeconds) };
      await recordEvent(tx, { organizationId, type: "backup.lagging", resource, details });
    });
  }
}
