// The identity of this Pilvi, kept as files in the data directory: its key, its first token, its host's id.
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { newToken } from "../../api/auth/tokens.ts";
import type { Config } from "../../config.ts";
import { STORE_ID } from "../../contracts/store-id.ts";
import { instanceFolder } from "../../host/os/layout.ts";
import { codeOf, messageOf, Refusal } from "../../lib/errors.ts";
import { replaceFile, syncFile } from "../../lib/files.ts";
import { newId } from "../../lib/ids.ts";
import { Vault } from "../../lib/secrets.ts";
import { openStore } from "./store-instance.ts";

const KEY_BYTES = 32;

/** @throws Refusal when the key is missing although something was sealed with it, or when the file holds no key. */
export async function openVault(config: Config): Promise<Vault> {
  const text = readIfThere(config.keyFile, "PILVI_KEY_FILE");
  if (text !== null) return new Vault(decodeKey(config.keyFile, text));
  if (await hasSealedSecrets(config)) {
    throw new Refusal(
      `The key file ${config.keyFile} is missing, and what is stored was sealed with it. Put it back from your backup.`,
    );
  }
  return new Vault(decodeKey(config.keyFile, await makeKey(config.keyFile)));
}

/** Makes a key file, unless another process of Pilvi does so at the same moment. @returns its content. */
async function makeKey(keyFile: string): Promise<string> {
  const temporary = `${keyFile}.${process.pid}`;
  try {
    writeFileSync(temporary, `${randomBytes(KEY_BYTES).toString("base64")}\n`, { mode: 0o600 });
    await syncFile(temporary);
    // Unlike a rename, this never takes the place of a key.
    linkUnlessThere(temporary, keyFile);
    await syncFile(keyFile);
    return readFileSync(keyFile, "utf8");
  } catch (error) {
    throw new Refusal(`The key file ${keyFile} cannot be made: ${messageOf(error)}.`, error);
  } finally {
    rmSync(temporary, { force: true });
  }
}

function linkUnlessThere(path: string, name: string): void {
  try {
    linkSync(path, name);
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
}

/** The full-access token of the first start, made when its file is not there. */
export async function firstToken(config: Config): Promise<string> {
  const path = join(config.dataDir, "token");
  const known = readIfThere(path, "PILVI_DATA_DIR")?.trim() ?? "";
  // A power cut may have left it empty.
  if (known !== "") return known;
  const token = newToken();
  replaceFile(path, `${token}\n`, 0o600);
  await syncFile(path);
  return token;
}

/**
 * The id under which this machine is known to the store, made when its file is not there; null when a power cut has left
 * the file empty, so that only the store knows it.
 */
export async function hostId(config: Config): Promise<string | null> {
  const path = join(config.dataDir, "host-id");
  const known = readIfThere(path, "PILVI_DATA_DIR")?.trim();
  if (known !== undefined) return known === "" ? null : known;
  const id = newId("host");
  replaceFile(path, `${id}\n`, 0o644);
  await syncFile(path);
  return id;
}

async function hasSealedSecrets(config: Config): Promise<boolean> {
  if (config.databaseUrl === undefined) return existsSync(instanceFolder(config.dataDir, STORE_ID).manifest);
  const db = await openStore({ url: config.databaseUrl }, { maxConnections: 1 });
  try {
    const [table] = await db`select to_regclass('encryption_keys') is not null as "isThere"`;
    if (!table.isThere) return false;
    return (await db`select from encryption_keys limit 1`).length > 0;
  } finally {
    await db.close();
  }
}

function decodeKey(path: string, text: string): Uint8Array {
  const key = Buffer.from(text.trim(), "base64");
  if (key.length !== KEY_BYTES)
    throw new Refusal(`The key file ${path} does not hold a key: 32 bytes in base64.`);
  return key;
}

function readIfThere(path: string, setting: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw new Refusal(`The file ${path} (${setting}) cannot be read: ${messageOf(error)}.`, error);
  }
}
