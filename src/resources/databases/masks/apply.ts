// Masks the data of a clone: runs the SQL of its order as the customer's own user, before anybody else can log in.
import type { Observation } from "../../../contracts/observation.ts";
import { failpoint } from "../../../lib/failpoint.ts";
import type { KindContext } from "../../kind.ts";
import { watchObsolete } from "../../shared/obsolescence-watch.ts";
import { loginOf } from "../login.ts";
import { StatementEnded, StatementRefused } from "../query/faults.ts";
import { runStatement } from "../query/run.ts";
import type { StatementLogin } from "../query/session.ts";
import { loadDatabaseCluster, type DatabaseClusterRow } from "../store.ts";
import { MASK_TIMEOUT_SECONDS } from "../../shared/mask-limits.ts";
import { maskPassword } from "./password.ts";
import { findMask, markMasked, type Mask } from "./store.ts";

/** What became of a mask. */
export type MaskResult = "none" | "done" | "deleted" | { failure: string };

const NO_DATABASE = "The data could not be masked: there is no such database in it.";

/**
 * Runs the mask of a clone, unless it has run. A run that is killed is repeated.
 * @throws NoSession when the clone cannot be reached.
 */
export async function ensureMasked(
  context: KindContext,
  cluster: DatabaseClusterRow,
  seen: Observation,
  signal: AbortSignal,
): Promise<MaskResult> {
  const { db, vault } = context;
  const { id, origin } = cluster;
  if (origin?.isMaskPending !== true) return "none";
  const mask = await findMask(db, id, vault);
  if (mask === undefined) return { failure: "The data could not be masked: the SQL is gone." };
  const { missingDatabases = [] } = seen;
  const databases = cluster.schemas
    .map(({ name }) => name)
    .filter((name) => !missingDatabases.includes(name));
  const login = { ...loginOf(cluster, context), password: maskPassword(id, vault) };
  const isDeleting = async () => (await loadDatabaseCluster(db, id))?.status === "deleting";
  const result = await maskData({ login, databases, mask, isDeleting }, signal);
  if (result !== "done") return result;
  await failpoint("reconcile.masked");
  await db.begin(async (tx) => await markMasked(tx, id));
  return "done";
}

/** Data that is to be masked. */
interface MaskedData {
  login: Omit<StatementLogin, "database">;
  /** The databases in it, the oldest first. */
  databases: readonly string[];
  mask: Mask;
  /** Whether the cluster is to be deleted, so that the run is given up. */
  isDeleting(): Promise<boolean>;
}

/** Runs the SQL of a mask. @throws NoSession when the data cannot be reached. */
export async function maskData(
  { login, databases, mask, isDeleting }: MaskedData,
  signal: AbortSignal,
): Promise<Exclude<MaskResult, "none">> {
  const database = mask.database === null ? databases[0] : databases.find((name) => name === mask.database);
  if (database === undefined) return { failure: NO_DATABASE };
  const watch = watchObsolete(isDeleting, signal);
  try {
    const script = { text: mask.sql, isReadOnly: false, isScript: true, maxRows: 0 };
    const statement = { ...script, timeoutMs: MASK_TIMEOUT_SECONDS * 1_000 };
    await failpoint("reconcile.masking");
    await runStatement({ ...login, database }, statement, AbortSignal.any([signal, watch.obsolete]));
    return "done";
  } catch (error) {
    if (watch.obsolete.aborted) return "deleted";
    signal.throwIfAborted();
    if (!(error instanceof StatementRefused || error instanceof StatementEnded)) throw error;
    return { failure: `The data could not be masked: ${error.message}` };
  } finally {
    watch.end();
  }
}
