// Locks of instances: an engine holds its lock as long as it lives, even when its host has ended.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { closeSync, existsSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freshDataDir, until } from "../../../tests/support/pilvi/pilvi.ts";
import { IS_ROOT } from "../../../tests/support/pilvi/program.ts";
import { codeOf } from "../../lib/errors.ts";
import { findEngine, stopEngine } from "../engine/engine-process.ts";
import { exitOf } from "./exit-watch.ts";
import { ensureInstanceFolder, instanceFolder, type InstanceFolder } from "./layout.ts";
import { engineAmong, holdersOf, holdsLock, isLocked, LOCK_FD, lockHolders, takeLock } from "./locks.ts";

let dataDir: string;
let folder: InstanceFolder;
let started: Bun.Subprocess[] = [];

beforeEach(() => {
  dataDir = freshDataDir();
  folder = instanceFolder(dataDir, "cache-1");
  ensureInstanceFolder(folder);
});

afterEach(async () => {
  for (const child of started) killGroup(child.pid);
  await Promise.all(started.map((child) => child.exited));
  started = [];
  rmSync(dataDir, { recursive: true, force: true });
});

/** Starts a shell script as the host starts an engine. */
function startHolder(script: string): Bun.Subprocess {
  const fd = takeLock(folder.lock);
  if (fd === null) throw new Error("the lock is taken");
  const child = Bun.spawn(["sh", "-c", script], {
    detached: true,
    stdio: ["ignore", "ignore", "ignore", fd],
  });
  closeSync(fd);
  started.push(child);
  return child;
}

/** Kills a holder and its children, which are a process group. */
function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if (codeOf(error) !== "ESRCH") throw error;
  }
}

/** Runs a command until it has written a line. */
async function startOther(
  command: string[],
  options: { cwd: string; uid?: number; gid?: number },
): Promise<Bun.Subprocess> {
  const child = Bun.spawn(command, { stdio: ["ignore", "pipe", "inherit"], ...options });
  started.push(child);
  await child.stdout.getReader().read();
  return child;
}

/** As `startOther`. The lock is there, and free. */
async function startImpostor(command: string[], account: { uid?: number; gid?: number }): Promise<number> {
  closeSync(takeLock(folder.lock) ?? 0);
  const child = await startOther(command, { cwd: "/", ...account });
  expect(readlinkSync(`/proc/${child.pid}/fd/${LOCK_FD}`)).toBe(folder.lock);
  return child.pid;
}

/** Perl that opens a path where an engine has its lock. */
function opening(path: string): string {
  return `use POSIX; $| = 1; setsid; sysopen $file, ${path}, 0 or die $!; POSIX::dup2(fileno $file, ${LOCK_FD}); print "up\\n"; sleep 600`;
}

function expectKnown(impostor: number): void {
  const { pid } = startHolder("exec sleep 60");
  expect(holdersOf(folder.lock)).toEqual([pid]);
  expect(findEngine(folder)?.pid).toBe(pid);
  expect([impostor, pid].map((each) => holdsLock(each, folder.lock))).toEqual([false, true]);
}

test("a lock is held while its engine lives, and free before and after", async () => {
  expect(isLocked(folder.lock)).toBe(false);
  expect(existsSync(folder.lock)).toBe(false);
  const child = startHolder("exec sleep 60");
  expect(isLocked(folder.lock)).toBe(true);
  expect(takeLock(folder.lock)).toBeNull();
  child.kill("SIGKILL");
  await child.exited;
  expect(isLocked(folder.lock)).toBe(false);
});

test("the engine is distinguished from its children", async () => {
  const child = startHolder("sleep 60 & wait");
  await until("the child runs", () => holdersOf(folder.lock).length === 2);
  expect(engineAmong(holdersOf(folder.lock))).toBe(child.pid);
  expect(findEngine(folder)?.pid).toBe(child.pid);
});

test("a child that outlives its engine, such as a child that saves, is not taken for the engine, and is killed", async () => {
  const child = startHolder("sleep 60 & wait");
  await until("the child runs", () => holdersOf(folder.lock).length === 2);
  child.kill("SIGKILL");
  await child.exited;
  expect(isLocked(folder.lock)).toBe(true);
  expect(findEngine(folder)).toBeNull();
  await stopEngine(null, { signal: "SIGTERM", timeoutMs: 1_000 }, folder);
  expect(isLocked(folder.lock)).toBe(false);
});

test("an engine that ignores SIGTERM is killed", async () => {
  const isDeaf = join(folder.path, "deaf");
  const child = startHolder(`trap '' TERM; : > '${isDeaf}'; while :; do sleep 0.05; done`);
  await until("it does not heed the signal", () => existsSync(isDeaf));
  const found = findEngine(folder);
  expect(found?.wasFound).toBe(true);
  await stopEngine(found, { signal: "SIGTERM", timeoutMs: 100 }, folder);
  expect(isLocked(folder.lock)).toBe(false);
  expect(child.signalCode ?? (await child.exited, child.signalCode)).toBe("SIGKILL");
});

test("a folder without a lock has no engine", () => {
  expect(findEngine(folder)).toBeNull();
  expect(holdersOf(folder.lock)).toEqual([]);
});

describe("a process that poses as an engine", () => {
  test("is known by a descriptor that lets it neither read nor lock the file", async () => {
    const script = `use POSIX; $| = 1; setsid; sysopen $file, "${folder.lock}", 0x200000 or die $!; POSIX::dup2(fileno $file, ${LOCK_FD}); print "up\\n"; sleep 600`;
    const account = IS_ROOT ? { uid: 64_112, gid: 64_112 } : {};
    expectKnown(await startImpostor(["/usr/bin/perl", "-e", script], account));
  });

  test.skipIf(!IS_ROOT)("is known by a file of its own at the same path of another namespace", async () => {
    const script = `mount -t tmpfs none ${dataDir}; mkdir -p ${folder.path}; : >${folder.lock}; exec ${LOCK_FD}<${folder.lock}; echo up; exec sleep 600`;
    expectKnown(await startImpostor(["setsid", "unshare", "--mount", "/bin/sh", "-c", script], {}));
  });
});

describe("a process that has another file where an engine has its lock leaves the locks of others alone", () => {
  const scripts: [what: string, script: string][] = [
    [
      "with a path longer than any path may be",
      `for (1 .. 40) { mkdir "d" x 200 or die $!; chdir "d" x 200 or die $! } ${opening('"."')}`,
    ],
    [
      "with a path that is too long as text",
      `$name = chr(255) x 255; mkdir $name or die $!; open $made, ">", "$name/lock"; ${opening('"$name/lock"')}`,
    ],
  ];

  test.each(scripts)("%s", async (_, script) => {
    const other = await startOther(["/usr/bin/perl", "-e", script], { cwd: folder.path });
    const { pid } = startHolder("exec sleep 60");
    expect(lockHolders().get(folder.lock)).toEqual([pid]);
    expect([other.pid, pid].map((each) => holdsLock(each, folder.lock))).toEqual([false, true]);
  });

  test.skipIf(!IS_ROOT)(
    "leads through a file of this machine, leaves the locks of others alone",
    async () => {
      const path = join(folder.path, "served");
      writeFileSync(path, "");
      const script = `mount -t tmpfs none ${dataDir}; mkdir -p ${path}; : >${path}/lock; exec ${LOCK_FD}<${path}/lock; echo up; exec sleep 600`;
      await startOther(["setsid", "unshare", "--mount", "/bin/sh", "-c", script], { cwd: "/" });
      const { pid } = startHolder("exec sleep 60");
      expect(lockHolders().get(folder.lock)).toEqual([pid]);
    },
  );
});

test("the end of a process that the host did not start is noticed", async () => {
  const child = startHolder("exec sleep 60");
  const exited = exitOf(child.pid);
  child.kill("SIGKILL");
  await exited;
  await exitOf(child.pid);
});
