// The masks of clones: SQL that runs in a clone before it is available. It may hold secrets, so it is sealed.
import { z } from "zod";
import type { Vault } from "../../../lib/secrets.ts";
import type { Queryable, Transaction } from "../../../store/database.ts";

const maskSchema = z.object({ sql: z.string(), database: z.string().nullable() });

/** The SQL, and the name of the database that it runs in; null for the oldest. */
export type Mask = z.output<typeof maskSchema>;

/** Notes the mask of a clone that is being made; it is kept as long as the clone. */
export async function insertMask(tx: Transaction, id: string, mask: Mask, vault: Vault): Promise<void> {
  const sealed = vault.seal(JSON.stringify(mask), id);
  await tx`insert into masks (database_id, sealed) values (${id}, ${sealed})`;
}

/** The mask of a clone; undefined once it has failed. */
export async function findMask(db: Queryable, id: string, vault: Vault): Promise<Mask | undefined> {
  const [row] = await db<{ sealed: string }[]>`select sealed from masks where database_id = ${id}`;
  return row && maskSchema.parse(JSON.parse(vault.open(row.sealed, id)));
}

/** Forgets the SQL, which has failed. */
export async function eraseMask(tx: Transaction, id: string): Promise<void> {
  await tx`delete from masks where database_id = ${id}`;
}

/** The data is masked: the clone gets its own password. The SQL stays for refreshes. */
export async function markMasked(tx: Transaction, id: string): Promise<void> {
  await tx`update databases set origin = origin - 'isMaskPending' where id = ${id}`;
}
