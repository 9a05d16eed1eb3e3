// Makes the first data directory of a Postgres: built aside, then moved to its place in one step.
import {
  chownSync,
  existsSync,
  lchownSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { PostgresSpec } from "../../drivers/driver.ts";
import { PublicError } from "../../lib/errors.ts";
import type { Account, EngineContext } from "../engine.ts";

/** The role that the host itself logs in as. */
export const ADMIN_NAME = "pilvi_admin";

/** `initdb` wants a user with a name, which an instance's own does not have; every Linux has this one. */
const NOBODY: Account = { uid: 65_534, gid: 65_534 };

/** Runs `initdb` unless there is a complete data directory already. */
export async function prepareData(context: EngineContext<PostgresSpec>): Promise<void> {
  const { dataDir } = context.paths;
  if (existsSync(join(dataDir, "PG_VERSION"))) return;
  const workDir = join(dirname(dataDir), "initdb");
  rmSync(workDir, { recursive: true, force: true });
  mkdirSync(workDir, { mode: 0o700 });
  const built = join(workDir, "data");
  const passwordFile = join(workDir, "password");
  writeFileSync(passwordFile, context.adminPassword, { mode: 0o600 });
  const builder = context.account === null ? null : NOBODY;
  if (builder !== null) {
    for (const path of [workDir, passwordFile]) chownSync(path, builder.uid, builder.gid);
  }
  await runInitdb(context, built, passwordFile, builder);
  if (context.account !== null) chownTree(built, context.account);
  renameSync(built, dataDir);
  rmSync(workDir, { recursive: true, force: true });
}

async function runInitdb(
  { installed, paths }: EngineContext<PostgresSpec>,
  built: string,
  passwordFile: string,
  builder: Account | null,
): Promise<void> {
  const initdb = join(dirname(installed.program), "initdb");
  const options = [
    `--pgdata=${built}`,
    `--username=${ADMIN_NAME}`,
    `--pwfile=${passwordFile}`,
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    "--locale=C.UTF-8",
    "--data-checksums",
  ];
  const child = Bun.spawn([initdb, ...options], {
    cwd: dirname(built),
    env: { ...installed.env, TZ: "UTC" },
    stdio: ["ignore", "ignore", "pipe"],
    ...builder,
  });
  const complaint = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) {
    const isFull = complaint.includes("No space left on device");
    throw new PublicError(
      isFull ? "The disk of the host is full." : "Postgres could not make its data directory.",
      new Error(`initdb for ${paths.dataDir}: ${complaint.trim()}`),
    );
  }
}

function chownTree(path: string, account: Account): void {
  lchownSync(path, account.uid, account.gid);
  for (const entry of readdirSync(path, { withFileTypes: true, recursive: true })) {
    lchownSync(join(entry.parentPath, entry.name), account.uid, account.gid);
  }
}
