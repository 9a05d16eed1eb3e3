// Registers this machine and its key in the store, and notices a store that belongs to another key.
import { hostname } from "node:os";
import { Refusal } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import type { Vault } from "../../lib/secrets.ts";
import type { Database } from "../../store/database.ts";

/** @throws Refusal when secrets in the store were sealed with another key. */
export async function ensureKeyFits(db: Database, vault: Vault, keyFile: string): Promise<void> {
  const known = await db<{ id: string }[]>`select id from encryption_keys`;
  if (known.length === 0) {
    await db`insert into encryption_keys (id) values (${vault.keyId}) on conflict do nothing`;
    return;
  }
  if (known.some(({ id }) => id === vault.keyId)) return;
  throw new Refusal(
    `The store was sealed with another key than the key in ${keyFile}. Put the right one back from your backup.`,
  );
}

/**
 * The row that resources of this machine are placed on.
 * @param known the id of this machine; null when its file is empty. It is then the host that the store knows already.
 * @returns the id.
 * @throws Refusal when the file is empty and the store knows several hosts.
 */
export async function ensureHostRow(db: Database, known: string | null): Promise<string> {
  const id = known ?? (await onlyHost(db)) ?? newId("host");
  await db`
    insert into hosts (id, name) values (${id}, ${hostname()})
    on conflict (id) do update set name = excluded.name`;
  return id;
}

async function onlyHost(db: Database): Promise<string | undefined> {
  const [host, ...others] = await db<{ id: string }[]>`select id from hosts limit 2`;
  if (others.length === 0) return host?.id;
  throw new Refusal(
    "The file host-id in the data directory is empty, and the store knows several hosts. Write the id of this host into it.",
  );
}
