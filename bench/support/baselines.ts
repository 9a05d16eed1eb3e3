// The baselines of the API: a server with a constant answer, and a small transaction on the same store.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { SQL } from "bun";
import { loadConfig } from "../../src/config.ts";
import { Vault } from "../../src/lib/secrets.ts";
import { storeAddress } from "../../src/processes/bootstrap/store-instance.ts";
import { openDatabase } from "../../src/store/database.ts";
import type { TestPilvi } from "../../tests/support/pilvi/pilvi.ts";
import type { Bench } from "./bench.ts";

/** Starts a bare server in another process. @returns its URL. */
export async function constantServer(
  { pilvi, atEnd }: Bench,
  status: number,
  bytes: number,
): Promise<string> {
  const program = join(import.meta.dir, "constant-server.ts");
  const child = Bun.spawn([process.execPath, program, String(status), String(bytes)], {
    // This folder identifies it when the measurement's own process is killed.
    cwd: pilvi.dataDir,
    stdio: ["ignore", "pipe", "inherit"],
  });
  atEnd(async () => {
    child.kill();
    await child.exited;
  });
  for await (const chunk of child.stdout)
    return `http://127.0.0.1:${new TextDecoder().decode(chunk).trim()}/`;
  throw new Error("the bare server did not start");
}

/** Opens the key of a Pilvi that this user started. */
export function vaultOf(pilvi: TestPilvi): Vault {
  const { keyFile } = loadConfig(pilvi.env);
  return new Vault(Buffer.from(readFileSync(keyFile, "utf8").trim(), "base64"));
}

/** Connects to the store of a Pilvi; closed at the end. */
export function storeOf({ pilvi, atEnd }: Bench): SQL {
  const db = openDatabase(storeAddress(loadConfig(pilvi.env), vaultOf(pilvi)));
  atEnd(() => db.close());
  return db;
}
