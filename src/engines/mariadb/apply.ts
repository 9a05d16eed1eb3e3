// Brings the users and databases of a running MariaDB to the spec.
import type { SQL } from "bun";
import type { MysqlSpec } from "../../contracts/instance-spec.ts";
import type { InstanceUser } from "../../contracts/users.ts";
import type { DatabaseFault, DataState, EngineContext } from "../engine.ts";
import { asAdmin, heldUpOr, literal } from "./admin.ts";
import { bringDatabasesTo } from "./databases.ts";

/**
 * A customer's rights beyond its own databases. Rights on everything would include the system tables, with which a
 * customer could make itself anything.
 */
const GLOBAL_RIGHTS = "process, show databases, binlog monitor";

/** Clears every attribute of an account that can keep it out or slow it down. */
const UNLIMITED =
  "require none with max_queries_per_hour 0 max_connections_per_hour 0 max_updates_per_hour 0 max_user_connections 0 account unlock password expire never";

/** How long the host waits for a client's lock, in seconds; every other change of the cluster waits meanwhile. */
const LOCK_WAIT_SECONDS = 5;

/** Sets users and their rights, makes databases that are missing, and drops unwanted databases. @throws LockTimeout */
export async function applySpec(
  context: EngineContext<MysqlSpec>,
  { made }: DataState,
): Promise<DatabaseFault[]> {
  const { spec } = context;
  return await asAdmin(context, async (db) => {
    await setUsers(spec, db);
    return await bringDatabasesTo(spec, db, made);
  });
}

/** Sets the users of the spec again, whatever a customer has changed in them. @throws LockTimeout */
export async function restoreUsers(context: EngineContext<MysqlSpec>): Promise<void> {
  await asAdmin(context, async (db) => await setUsers(context.spec, db));
}

/** @throws LockTimeout */
async function setUsers({ users }: MysqlSpec, db: SQL): Promise<void> {
  try {
    for (const timeout of ["lock_wait_timeout", "innodb_lock_wait_timeout"])
      await db.unsafe(`set session ${timeout} = ${LOCK_WAIT_SECONDS}`);
    for (const user of users) await setUser(user, db);
  } catch (error) {
    throw heldUpOr(error);
  }
}

async function setUser({ name, verifier }: InstanceUser, db: SQL): Promise<void> {
  const account = `${literal(name)}@'%'`;
  const identity = `identified via mysql_native_password using ${literal(verifier)}`;
  await db.unsafe(`create user if not exists ${account} ${identity}`);
  await db.unsafe(`alter user ${account} ${identity} ${UNLIMITED}`);
  await db.unsafe(`grant ${GLOBAL_RIGHTS} on *.* to ${account}`);
}
