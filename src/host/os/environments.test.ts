// The users of environments, and their processes when they are given back.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { freshDataDir } from "../../../tests/support/pilvi/pilvi.ts";
import { IS_ROOT } from "../../../tests/support/pilvi/program.ts";
import { createLog } from "../../lib/log.ts";
import { Environments } from "./environments.ts";
import { environmentsDir } from "./layout.ts";
import { processesOf } from "./user-processes.ts";

let dataDir: string;
const started: Bun.Subprocess[] = [];

beforeEach(() => {
  dataDir = freshDataDir();
});

afterEach(async () => {
  for (const child of started) child.kill("SIGKILL");
  await Promise.all(started.splice(0).map((child) => child.exited));
  rmSync(dataDir, { recursive: true, force: true });
});

function environments(): Environments {
  const settings = { dataDir, enginesDir: join(dataDir, "engines"), portOf: () => null };
  return new Environments(settings, createLog("host", "silent"), () => false);
}

function uidOf(all: Environments, id: string): number {
  const account = all.accountOf(id);
  if (account === null) throw new Error("there are no users");
  return account.uid;
}

/** Runs a command as a user until it has written a line. */
async function start(uid: number, command: string[]): Promise<void> {
  const child = Bun.spawn(command, { cwd: "/", uid, gid: uid, stdio: ["ignore", "pipe", "ignore"] });
  started.push(child);
  await child.stdout.getReader().read();
}

describe.skipIf(!IS_ROOT)("the user of an environment", () => {
  test("has no process any more once the environment is removed", async () => {
    const all = environments();
    const uid = uidOf(all, "env-1");
    await start(uid, ["/bin/sh", "-c", "setsid sleep 600 3>&- & echo up; exec sleep 600"]);
    expect(processesOf(uid)).not.toEqual([]);
    await all.remove("env-1");
    expect(processesOf(uid)).toEqual([]);
    expect(all.hasUid(uid)).toBe(false);
  });

  test("is not that of an environment whose processes go on", async () => {
    const uid = uidOf(environments(), "env-1");
    await start(uid, ["/bin/sh", "-c", "echo up; exec sleep 600"]);
    // As a release without the end of these processes has left it.
    rmSync(join(environmentsDir(dataDir), "env-1"), { recursive: true });
    expect(uidOf(environments(), "env-2")).not.toBe(uid);
  });
});
