// What the host asks of a running Postgres before it sleeps: which activity forbids a stop, and which users may log in.
import type { PostgresSpec } from "../../contracts/instance-spec.ts";
import type { InstanceUser } from "../../contracts/users.ts";
import { presentable } from "../../lib/presentable.ts";
import type { EngineContext } from "../engine.ts";
import { MAX_USERS, MAX_VERIFIER_BYTES, type UserList } from "../users.ts";
import { asAdmin, OWN_DATABASE } from "./admin.ts";
import { ADMIN_NAME, LOGIN_BREAKER, MAX_SETTINGS_BYTES } from "./config.ts";

interface Activity {
  kind: string;
  user: string | null;
  application: string | null;
  /** Null for a client at the unix socket. */
  address: string | null;
  state: string | null;
}

/** Tasks of processes that must not be stopped, by the kind of the process (pg_stat_activity). */
const TASKS: Record<string, string> = {
  walsender: "A replica or a backup reads the cluster's log.",
  "autovacuum worker": "The cluster vacuums its tables.",
};

/** See `Engine.blockingActivity`. @throws when the engine does not answer. */
export async function blockingActivity(context: EngineContext<PostgresSpec>): Promise<string | null> {
  return await asAdmin(context, OWN_DATABASE, async (db) => {
    const [session] = await db<Activity[]>`
      select backend_type as kind, usename as user, application_name as application, host(client_addr) as address, state
      from pg_stat_activity
      where backend_type = 'client backend' and usename is distinct from ${ADMIN_NAME}
          -- Null, or 'starting' from version 18 on, are those who have not proved yet who they are.
          and state not in ('idle', 'starting')
        or backend_type in ('walsender', 'autovacuum worker')
        or backend_type like 'logical replication % worker'
      order by backend_type = 'client backend' desc, state_change
      limit 1`;
    if (session !== undefined) return sentenceFor(session);
    const [prepared] = await db<{ name: string }[]>`select gid as name from pg_prepared_xacts limit 1`;
    if (prepared === undefined) return null;
    return `The prepared transaction "${presentable(prepared.name)}" waits for its end.`;
  });
}

/**
 * The roles that can prove a password with SCRAM: those of the spec first, then the oldest that may log in. Roles that
 * may not follow, since the engine itself says so once the password is right; a role of the spec is left out then, and
 * the host repairs it. Before version 18 a verifier may have any size; the query reads that size without the verifier,
 * and skips a long verifier.
 * @throws when the engine does not answer.
 */
export async function users(context: EngineContext<PostgresSpec>): Promise<UserList> {
  const own = JSON.stringify(context.spec.users.map(({ name }) => name));
  return await asAdmin(context, OWN_DATABASE, async (db) => {
    const rows = await db<(InstanceUser & { mayLogIn: boolean })[]>`
      select rolname as name, rolpassword as verifier, rolcanlogin and rolconnlimit <> 0 as "mayLogIn"
      from pg_authid
      where rolname <> ${ADMIN_NAME} and (rolvaliduntil is null or rolvaliduntil > now())
        -- Asked of published users alone and up to a size: a role may have settings of megabytes.
        and case when rolname::text in (select json_array_elements_text(${own}::text::json))
          then rolcanlogin and rolconnlimit <> 0 and not exists (
          select from pg_db_role_setting
          where setrole = pg_authid.oid and setdatabase = 0 and case when pg_column_size(setconfig) <= ${MAX_SETTINGS_BYTES}
            then setconfig::text like ${`%${LOGIN_BREAKER}=%`} else false end) else true end
        and case when octet_length(rolpassword) <= ${MAX_VERIFIER_BYTES}
          then rolpassword like 'SCRAM-SHA-256$%' else false end
      order by rolname::text in (select json_array_elements_text(${own}::text::json)) desc, "mayLogIn" desc, oid
      limit ${MAX_USERS}`;
    const [count] = await db<{ total: number }[]>`
      select count(*)::int as total
      from pg_authid
      where rolcanlogin and rolname <> ${ADMIN_NAME} and (rolvaliduntil is null or rolvaliduntil > now())
        and rolconnlimit <> 0
        and case when octet_length(rolpassword) <= ${MAX_VERIFIER_BYTES}
          then rolpassword like 'SCRAM-SHA-256$%' else rolpassword is not null end`;
    const found = rows.map(({ name, verifier }) => ({ name, verifier }));
    const listed = rows.filter(({ mayLogIn }) => mayLogIn).length;
    return { users: found, leftOut: Math.max(0, (count?.total ?? 0) - listed) };
  });
}

function sentenceFor({ kind, user, application, address, state }: Activity): string {
  if (kind !== "client backend") return TASKS[kind] ?? "The cluster replicates from another one.";
  const does = state?.startsWith("idle in transaction")
    ? "is in the middle of a transaction"
    : "runs a query";
  const from = address === null ? "" : ` at ${address}`;
  const client = application ? `"${presentable(application)}" ` : "";
  return `The client ${client}of the user "${presentable(user ?? "")}"${from} ${does}.`;
}
