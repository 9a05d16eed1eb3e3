// One-time links with which people come into the console: for the first account, and for a user who is locked out.
import { baseUrl, type Config } from "../../config.ts";
import { Refusal } from "../../lib/errors.ts";
import { createRecoveryLink, createSetUpLink } from "../../resources/accounts/index.ts";
import type { Database } from "../../store/database.ts";
import { withStore } from "./local-store.ts";

const MAX_LISTED = 10;

/** The link for the first account; null when there is an account. */
export async function setUpLink(config: Config): Promise<string | null> {
  const secret = await withStore(config, createSetUpLink);
  return secret === null ? null : linkOf(config, "welcome", secret);
}

/**
 * The link for the first account, or for a user who cannot sign in.
 * @param email the user's; left out, the only account.
 * @throws Refusal when there is no such account, or when several could be meant.
 */
export async function consoleLink(config: Config, email: string | undefined): Promise<string> {
  const first = email === undefined ? await setUpLink(config) : null;
  if (first !== null) return first;
  return await withStore(config, async (db) =>
    linkOf(config, "recovery", await createRecoveryLink(db, await userIdOf(db, email))),
  );
}

async function userIdOf(db: Database, email: string | undefined): Promise<string> {
  const users = await db<{ id: string; email: string }[]>`
    select id, email from users where email = coalesce(${email?.toLowerCase() ?? null}::text, email)
    order by users.id limit ${MAX_LISTED}`;
  const [user] = users;
  if (user === undefined) throw new Refusal(`There is no account with the address ${email}.`);
  if (users.length === 1) return user.id;
  const addresses = users.map((each) => each.email).join(", ");
  throw new Refusal(`There are several accounts; give the address with --email: ${addresses}.`);
}

/** The secret stands after the `#`, which browsers send to no server and so no log has. */
function linkOf(config: Config, page: "welcome" | "recovery", secret: string): string {
  return `${baseUrl(config)}/${page}#${secret}`;
}
