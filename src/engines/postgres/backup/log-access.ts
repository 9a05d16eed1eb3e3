// Lets the keeper read the log of a stopped Postgres, and nothing else of its data, or takes that right away again.
import { join } from "node:path";
import type { PostgresSpec } from "../../../contracts/instance-spec.ts";
import type { EngineContext } from "../../engine.ts";
import { shareLog } from "../../log-access.ts";

/** Brings the access to what the spec says, before a start. Postgres makes files as its data folder allows them. */
export function ensureLogAccess({ spec, paths, account, logReader }: EngineContext<PostgresSpec>): void {
  const { dataDir } = paths;
  const reader = spec.keepsLog === true ? logReader : null;
  shareLog({ dataDir, folder: join(dataDir, "pg_wal"), account, reader });
}
