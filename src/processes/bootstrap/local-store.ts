// The store of the Pilvi that runs on this machine, for commands that change it directly.
import { readFileSync } from "node:fs";
import type { Config } from "../../config.ts";
import { codeOf, messageOf, PublicError, Refusal } from "../../lib/errors.ts";
import { Vault } from "../../lib/secrets.ts";
import { openDatabase, type Database } from "../../store/database.ts";
import { storeAddress } from "./store-instance.ts";

/**
 * Runs a task on the store of the Pilvi that runs here.
 * @throws Refusal when there is none, or when the task cannot be done for a public reason.
 */
export async function withStore<Result>(
  config: Config,
  task: (db: Database) => Promise<Result>,
): Promise<Result> {
  const db = openDatabase(storeAddress(config, readVault(config)), { maxConnections: 1 });
  try {
    await db`select from tokens limit 1`.catch((error: unknown) => {
      throw new Refusal(
        `The store does not answer (${messageOf(error)}). Start Pilvi with: npm start`,
        error,
      );
    });
    return await task(db);
  } catch (error) {
    if (error instanceof PublicError) throw new Refusal(error.message, error);
    throw error;
  } finally {
    await db.close();
  }
}

function readVault(config: Config): Vault {
  try {
    return new Vault(Buffer.from(readFileSync(config.keyFile, "utf8").trim(), "base64"));
  } catch (error) {
    if (codeOf(error) === "ENOENT") {
      throw new Refusal(`There is no Pilvi in ${config.dataDir} yet. Start one with: npm start`, error);
    }
    throw new Refusal(`The key file ${config.keyFile} cannot be used: ${messageOf(error)}.`, error);
  }
}
