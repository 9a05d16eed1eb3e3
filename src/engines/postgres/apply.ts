// Brings the roles and databases of a running Postgres to the spec.
import type { SQL } from "bun";
import type { PostgresSpec } from "../../contracts/instance-spec.ts";
import type { DatabaseFault, DataState, EngineContext } from "../engine.ts";
import { asAdmin, heldUpOr, identifier, literal, OWN_DATABASE } from "./admin.ts";
import { awaitRoles } from "./backup/replica.ts";
import { ensureSlot } from "./backup/slot.ts";
import { LOGIN_BREAKER } from "./config.ts";
import { bringDatabasesTo } from "./databases.ts";
import { CUSTOMER_NAME, FIRST_DATABASE } from "./initdb.ts";

/**
 * The database that the host logs into while the cluster is new, so that the customer's first session finds warm
 * caches.
 */
const NEW_DATABASE = FIRST_DATABASE;

/** How long the host waits for a client's lock; every other change of the cluster waits meanwhile. */
const LOCK_TIMEOUT = "5s";

/** Sets roles, makes databases that are missing, and drops unwanted databases. @throws LockTimeout */
export async function applySpec(
  context: EngineContext<PostgresSpec>,
  data: DataState,
): Promise<DatabaseFault[]> {
  const { spec } = context;
  // Roles and databases of a replica come with the log.
  if (spec.replicaOf !== undefined) {
    await awaitRoles(context);
    return [];
  }
  // The administrator cannot drop the database that it is logged into.
  const isFirstKept = spec.databases.some(
    ({ name, desiredState }) => name === FIRST_DATABASE && desiredState === "present",
  );
  const database = data.isNew && isFirstKept ? NEW_DATABASE : OWN_DATABASE;
  return await asAdmin(context, database, async (db) => {
    await setRoles(spec, db, data.isNew ? new Set([CUSTOMER_NAME]) : await rolesIn(spec, db));
    const keepsLog = spec.keepsLog === true;
    if (keepsLog || !data.isNew) await ensureSlot(db, keepsLog);
    return await bringDatabasesTo(spec, db, data);
  });
}

/** Sets the roles of the spec again, whatever a customer has changed in them. @throws LockTimeout */
export async function restoreUsers(context: EngineContext<PostgresSpec>): Promise<void> {
  const { spec } = context;
  await asAdmin(context, OWN_DATABASE, async (db) => await setRoles(spec, db, await rolesIn(spec, db)));
}

/** @param present the roles that exist. @throws LockTimeout */
async function setRoles({ users }: PostgresSpec, db: SQL, present: Set<string>): Promise<void> {
  const logins = users.flatMap(({ name, verifier }) => {
    const role = identifier(name);
    const verb = present.has(name) ? "alter" : "create";
    return [
      `${verb} role ${role} login password ${literal(verifier)} valid until 'infinity' connection limit -1`,
      `alter role ${role} reset ${LOGIN_BREAKER}`,
    ];
  });
  // Every start sets the roles again, so a power cut before this commit is on the disk loses nothing.
  const settings = [`set lock_timeout = '${LOCK_TIMEOUT}'`, "set local synchronous_commit = off"];
  try {
    await db.unsafe([...settings, ...logins].join(";")).simple();
  } catch (error) {
    throw heldUpOr(error);
  }
}

/** The roles of the spec that exist. */
async function rolesIn({ users }: PostgresSpec, db: SQL): Promise<Set<string>> {
  const names = users.map(({ name }) => name);
  const rows = await db<{ name: string }[]>`
    select rolname as name from pg_roles where rolname = any(${db.array(names, "text")})`;
  return new Set(rows.map(({ name }) => name));
}
