// Records failed sign-ins of accounts in the activity of their organizations, in a bounded number of entries.
import { FAILED_SIGN_IN, recordAccountAudit, type AccountEntry } from "../../api/auth/account-audit.ts";
import type { Database, Transaction } from "../../store/database.ts";
import { momentSql } from "../shared/moments.ts";
import type { SignInMethod } from "./sign-in.ts";

/** Of an account; further failures within the hour are counted in the entries that are there. */
export const ENTRIES_AN_HOUR = 5;

interface FailedSignIn extends Pick<AccountEntry, "userId" | "client" | "requestId"> {
  method: SignInMethod;
}

/** The rows of a failure, one in each organization. Two failures may have the same time, but not from one address. */
interface Entry {
  at: string;
  address: string;
}

/**
 * Records a failure, also that of a wrong present password. Failures from one address within an hour are one entry with
 * their number; so are those from all addresses beyond the bound.
 */
export async function recordFailedSignIn(db: Database, failure: FailedSignIn): Promise<void> {
  const { userId, client, method } = failure;
  await db.begin(async (tx) => {
    // Of two failures at once, the second sees the entry of the first.
    const [user] = await tx<{ email: string }[]>`
      select email from users where id = ${userId} for no key update`;
    if (user === undefined) return;
    const entries = await entriesOfTheHour(tx, userId);
    const newest = entries.length < ENTRIES_AN_HOUR ? undefined : entries[0];
    const same = entries.find(({ address }) => address === client.address) ?? newest;
    if (same !== undefined) return await count(tx, failure, same);
    const details = { email: user.email, method, attempts: 1 };
    await recordAccountAudit(tx, { ...failure, action: FAILED_SIGN_IN, kind: "users", id: userId, details });
  });
}

/** The newest first. */
async function entriesOfTheHour(tx: Transaction, userId: string): Promise<Entry[]> {
  return await tx<Entry[]>`
    select distinct audit.at as moment, audit.at::text as at, address from audit
    where resource_id = ${userId} and resource_kind = 'users' and action = ${FAILED_SIGN_IN}
      and at > now() - interval '1 hour'
    order by moment desc`;
}

async function count(
  tx: Transaction,
  { userId, client }: FailedSignIn,
  { at, address }: Entry,
): Promise<void> {
  const others = address === client.address ? {} : { other_addresses: true };
  await tx`
    update audit
    set details = details || ${others}::jsonb || jsonb_build_object(
      'attempts', (details->>'attempts')::int + 1, 'latest_at', ${tx.unsafe(momentSql("now()"))})
    where resource_id = ${userId} and resource_kind = 'users' and action = ${FAILED_SIGN_IN}
      and at = ${at}::timestamptz and address = ${address}`;
}
