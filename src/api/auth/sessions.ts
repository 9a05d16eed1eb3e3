// Sessions of signed-in users. The store keeps the hash of a session's secret, which only the browser's cookie has.
import { newId } from "../../lib/ids.ts";
import type { Log } from "../../lib/log.ts";
import { newPassword, sha256Hex } from "../../lib/secrets.ts";
import type { Database, Transaction } from "../../store/database.ts";
import { notify } from "../../store/notifications.ts";
import { abilitiesOf, type Role } from "./abilities.ts";
import type { Client } from "./client.ts";

const SECRET_CHARACTERS = 43;
const MAX_SESSIONS = 50;

/** A session ends when it was not used for the first time, and after the second time in any case. */
const IDLE_DAYS = 30;
export const MAX_DAYS = 90;

/** A valid session, with the rights of its user. */
export interface FoundSession {
  sessionId: string;
  userId: string;
  organizationId: string;
  familyId: string;
  role: Role | null;
  abilities: string[];
}

/** A session that has begun. */
export interface NewSession {
  id: string;
  /** For the cookie; stored nowhere. */
  secret: string;
}

/**
 * Finds the session with this secret. A use renews it, at most once a minute.
 * @param options.kinds the plural nouns of all resource kinds.
 */
export async function findSession(
  db: Database,
  log: Log,
  { secret, kinds }: { secret: string; kinds: readonly string[] },
): Promise<FoundSession | undefined> {
  const [row] = await db<(Omit<FoundSession, "abilities"> & { isUseStale: boolean })[]>`
    select s.id as "sessionId", s.user_id as "userId", coalesce(m.organization_id, '') as "organizationId",
           coalesce(o.family_id, '') as "familyId", m.role, s.last_used_at < now() - interval '1 minute' as "isUseStale"
    from sessions s left join members m on m.user_id = s.user_id and m.organization_id = s.organization_id
      left join organizations o on o.id = m.organization_id
    where s.secret_hash = ${sha256Hex(secret)} and s.expires_at > now()`;
  if (row === undefined) return undefined;
  const { isUseStale, ...session } = row;
  if (isUseStale) renew(db, log, session.sessionId);
  return { ...session, abilities: session.role === null ? [] : abilitiesOf(session.role, kinds) };
}

/** Not awaited, since no request needs the result. */
function renew(db: Database, log: Log, id: string): void {
  const update = async () => {
    await db`
      update sessions
      set last_used_at = now(), expires_at = least(
        now() + make_interval(days => ${IDLE_DAYS}), created_at + make_interval(days => ${MAX_DAYS}))
      where id = ${id} and last_used_at < now() - interval '1 minute' and expires_at > now()`;
  };
  update().catch((error: unknown) => log.warn({ error, sessionId: id }, "could not renew a session"));
}

/**
 * Begins a session with a new secret, in the given organization or else in the first organization of the user. Ended
 * sessions of the user are deleted, and the least recently used ones beyond the bound.
 */
export async function beginSession(
  tx: Transaction,
  { userId, client, organizationId }: { userId: string; client: Client; organizationId?: string },
): Promise<NewSession> {
  const id = newId("session");
  const secret = newPassword(SECRET_CHARACTERS);
  await tx`
    insert into sessions (id, secret_hash, user_id, organization_id, address, user_agent, expires_at)
    values (${id}, ${sha256Hex(secret)}, ${userId}, coalesce(${organizationId ?? null}::text, (
      select organization_id from members where user_id = ${userId} order by created_at, id limit 1)),
      ${client.address}, ${client.userAgent}, now() + make_interval(days => ${IDLE_DAYS}))`;
  await tx`
    delete from sessions where id in (
      select id from sessions where user_id = ${userId} and (expires_at <= now() or id in (
        select id from sessions where user_id = ${userId} and id <> ${id}
        order by last_used_at desc, id desc offset ${MAX_SESSIONS - 1}))
      order by id for update)`;
  return { id, secret };
}

/**
 * Ends sessions of a user, with the streams of their events.
 * @param which the only session that ends, or the only session that stays; all end when left out.
 * @returns how many ended.
 */
export async function endSessions(
  tx: Transaction,
  userId: string,
  which: { only?: string; except?: string } = {},
): Promise<number> {
  const rows = await tx<{ organizationId: string | null }[]>`
    delete from sessions where id in (
      select id from sessions
      where user_id = ${userId} and id = coalesce(${which.only ?? null}::text, id)
        and id <> coalesce(${which.except ?? null}::text, '')
      order by id for update)
    returning organization_id as "organizationId"`;
  for (const organizationId of new Set(rows.map((row) => row.organizationId))) {
    if (organizationId !== null) await notify(tx, "events", organizationId);
  }
  return rows.length;
}
