// The rows of users.
import { newId } from "../../lib/ids.ts";
import type { Role } from "../../api/auth/abilities.ts";
import { invalid, type ApiError } from "../../api/jsonapi/errors.ts";
import type { Queryable, Transaction } from "../../store/database.ts";
import { momentSql } from "../shared/moments.ts";

export interface User {
  id: string;
  email: string;
  name: string;
  /** UTC with microseconds, ISO 8601. */
  createdAt: string;
}

/** What a sign-in with a password needs. */
export interface Login {
  id: string;
  passwordHash: string;
}

export interface NewUser {
  email: string;
  name: string;
  passwordHash: string;
}

export async function findLogin(db: Queryable, email: string): Promise<Login | undefined> {
  const [row] = await db<Login[]>`
    select id, password_hash as "passwordHash" from users where email = ${email}`;
  return row;
}

export async function getUser(db: Queryable, id: string): Promise<User> {
  const [row] = await db<User[]>`
    select id, email, name, ${db.unsafe(momentSql("created_at"))} as "createdAt" from users where id = ${id}`;
  if (row === undefined) throw new Error("the user of a session is not there");
  return row;
}

/** @throws ApiError 422 when the address has an account. @returns the id. */
export async function insertUser(tx: Transaction, { email, name, passwordHash }: NewUser): Promise<string> {
  const id = newId("user");
  const rows = await tx`
    insert into users (id, email, name, password_hash) values (${id}, ${email}, ${name}, ${passwordHash})
    on conflict (email) do nothing returning id`;
  if (rows.length === 0) throw takenEmail();
  return id;
}

export function takenEmail(): ApiError {
  return invalid({ email: ["The field email is the address of another account."] });
}

/** Whether anyone has an account. */
export async function hasUsers(db: Queryable): Promise<boolean> {
  return (await db`select from users limit 1`).length > 0;
}

/** The organizations of a user, by name. */
export async function organizationsOf(
  db: Queryable,
  userId: string,
): Promise<{ id: string; name: string; role: Role }[]> {
  return await db<{ id: string; name: string; role: Role }[]>`
    select o.id, o.name, m.role from members m join organizations o on o.id = m.organization_id
    where m.user_id = ${userId} order by o.name, o.id`;
}

/** Adds a member. @returns whether the user was none before. */
export async function insertMember(
  tx: Transaction,
  { organizationId, userId, role }: { organizationId: string; userId: string; role: Role },
): Promise<boolean> {
  const rows = await tx`
    insert into members (id, organization_id, user_id, role)
    values (${newId("member")}, ${organizationId}, ${userId}, ${role})
    on conflict (organization_id, user_id) do nothing returning id`;
  return rows.length > 0;
}
