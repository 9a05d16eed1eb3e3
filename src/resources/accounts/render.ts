// Users and sessions as answers show them.
import type { SessionPrincipal } from "../../api/auth/auth.ts";
import type { Database, Queryable } from "../../store/database.ts";
import { momentSql } from "../shared/moments.ts";
import type { SessionResource, UserResource } from "./schema.ts";
import { getUser, organizationsOf } from "./store.ts";

/** A session as the store keeps it; times are UTC with microseconds, ISO 8601. */
interface SessionRow {
  id: string;
  organizationId: string | null;
  address: string;
  userAgent: string;
  createdAt: string;
  lastUsedAt: string;
  expiresAt: string;
}

/** The valid sessions of a user, the last used first. @param id only this session. */
export async function sessionsOf(db: Queryable, userId: string, id?: string): Promise<SessionRow[]> {
  return await db<SessionRow[]>`
    select id, organization_id as "organizationId", address, user_agent as "userAgent",
           ${db.unsafe(momentSql("created_at"))} as "createdAt",
           ${db.unsafe(momentSql("last_used_at"))} as "lastUsedAt",
           ${db.unsafe(momentSql("expires_at"))} as "expiresAt"
    from sessions
    where user_id = ${userId} and expires_at > now() and id = coalesce(${id ?? null}::text, id)
    order by sessions.last_used_at desc, sessions.id desc`;
}

export function renderSession(row: SessionRow, currentId: string): SessionResource {
  return {
    id: row.id,
    type: "sessions",
    attributes: {
      is_current: row.id === currentId,
      organization_id: row.organizationId,
      address: row.address,
      user_agent: row.userAgent,
      created_at: row.createdAt,
      last_used_at: row.lastUsedAt,
      expires_at: row.expiresAt,
    },
  };
}

/** The user of a session, with the organizations and what the session may do. */
export async function describeUser(db: Database, principal: SessionPrincipal): Promise<UserResource> {
  const [user, organizations] = await Promise.all([
    getUser(db, principal.userId),
    organizationsOf(db, principal.userId),
  ]);
  return {
    id: user.id,
    type: "users",
    attributes: { name: user.name, email: user.email, created_at: user.createdAt },
    meta: {
      session_id: principal.sessionId,
      organization_id: principal.organizationId === "" ? null : principal.organizationId,
      role: principal.role,
      abilities: [...principal.abilities],
      organizations,
    },
  };
}
