// The keeper under `pilvi up`: its user, its start again, and kills between any two steps of a backup.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { KeeperClient } from "../../../src/host/backups/keeper-client.ts";
import { newId } from "../../../src/lib/ids.ts";
import { bytesOf, collect, facts, streamOf } from "../../../src/keeper/test-support.ts";
import { Failpoints, startPilvi, type TestPilvi, until } from "../../support/pilvi/pilvi.ts";
import { IS_ROOT, procText, runCommand } from "../../support/pilvi/program.ts";

const KEEPER_UID = 30_004;
const ID = "cache-test";
/** Two parts. */
const BYTES = bytesOf(17 * 1024 ** 2);

let pilvi: TestPilvi;
let points: Failpoints;
let client: KeeperClient;
const never = new AbortController().signal;

beforeAll(async () => {
  points = new Failpoints();
  pilvi = await startPilvi({ env: points.env });
  client = new KeeperClient(join(pilvi.dataDir, "run", "keeper.sock"));
  await untilAnswers();
});

afterAll(async () => {
  points.release();
  await pilvi.close();
  points.close();
});

async function untilAnswers(): Promise<void> {
  await until("the keeper answers", async () => {
    const archives = await client.archives().catch(() => null);
    return archives !== null;
  });
}

/** Kills the keeper, and waits for the next, which stops at no step. */
async function killKeeper(pid = pilvi.runningPid("keeper")): Promise<void> {
  process.kill(pid, "SIGKILL");
  points.release();
  await until("another keeper runs", () => ![undefined, pid].includes(pilvi.pidOf("keeper")));
  await untilAnswers();
}

async function store(backup: string): Promise<void> {
  await client.store(ID, backup, streamOf(BYTES, 1024 ** 2), never);
  await client.complete(ID, backup, facts);
}

async function backups(): Promise<string[]> {
  return (await client.archive(ID))?.backups.map(({ id }) => id) ?? [];
}

function pathOf(...parts: string[]): string {
  return join(pilvi.dataDir, "backups", "archives", ID, ...parts);
}

async function isReadBack(backup: string): Promise<boolean> {
  return Buffer.compare(await collect(await client.read(ID, backup, never)), BYTES) === 0;
}

async function canRead(uid: number, path: string): Promise<boolean> {
  const as = ["setpriv", `--reuid=${uid}`, `--regid=${uid}`, "--clear-groups"];
  return (await runCommand([...as, "test", "-r", path])).code === 0;
}

test("the keeper has a user of its own, no groups, no capabilities, and gains no privileges", () => {
  const status = procText(pilvi.runningPid("keeper"), "status");
  expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
  if (!IS_ROOT) return;
  expect(status).toMatch(new RegExp(`^Uid:(\\s+${KEEPER_UID}){4}$`, "m"));
  expect(status).toMatch(new RegExp(`^Gid:(\\s+${KEEPER_UID}){4}$`, "m"));
  expect(status).toMatch(/^Groups:\s*$/m);
  expect(status).toMatch(/^CapEff:\s+0+$/m);
  expect(statSync(join(pilvi.dataDir, "backups"))).toMatchObject({ uid: KEEPER_UID });
  expect(statSync(join(pilvi.dataDir, "backups")).mode & 0o777).toBe(0o700);
  expect(statSync(join(pilvi.dataDir, "run", "keeper.sock"))).toMatchObject({ uid: 0 });
});

test.if(IS_ROOT)("the keeper's user reads no secret, and no other user reads backups", async () => {
  const secrets = [
    "key",
    "token",
    "log/keeper.log",
    "tls/ca.key",
    "instances/store/manifest.json",
    "run/host.sock",
  ];
  for (const secret of secrets)
    expect([secret, await canRead(KEEPER_UID, join(pilvi.dataDir, secret))]).toEqual([secret, false]);
  for (const uid of [30_000, 30_001, 30_002]) {
    expect(await canRead(uid, join(pilvi.dataDir, "backups", "pilvi-target.json"))).toBe(false);
    expect(await canRead(uid, join(pilvi.dataDir, "run", "keeper.sock"))).toBe(false);
  }
});

test("a backup outlives a killed keeper and a restart of Pilvi", async () => {
  await store("kept");
  await killKeeper();
  expect(await backups()).toEqual(["kept"]);
  await pilvi.stop();
  await pilvi.start();
  await untilAnswers();
  expect(await isReadBack("kept")).toBe(true);
});

test("a keeper that is killed in the middle of a stream leaves no backup, and the next takes the stream", async () => {
  const part = pathOf("backups", "broken", "parts", "000000");
  let killed = Promise.resolve();
  async function* broken() {
    yield* streamOf(BYTES, 1024 ** 2);
    await until("a part is stored", () => existsSync(part));
    killed = killKeeper();
    await killed;
  }
  expect(await client.store(ID, "broken", broken(), never).catch(() => "failed")).toBe("failed");
  await killed;
  expect(await backups()).not.toContain("broken");
  expect(await client.complete(ID, "broken", facts).catch(() => "failed")).toBe("failed");
  await store("broken");
  expect(await isReadBack("broken")).toBe(true);
  expect(readdirSync(pathOf("backups", "broken", "parts"))).toEqual(["000000", "000001"]);
});

describe("a kill", () => {
  test.each(["keeper.folder.written", "keeper.backup.part", "keeper.backup.complete"])(
    "at %s leaves no backup, and the same request again makes it",
    async (point) => {
      points.arm(point);
      const stored = store("again").catch(() => "failed");
      const pid = await points.reached();
      await killKeeper(pid);
      expect(await stored).toBe("failed");
      expect(await backups()).not.toContain("again");
      await store("again");
      expect(await isReadBack("again")).toBe(true);
      await client.deleteBackup(ID, "again");
    },
  );

  test("in the middle of a backup's deletion leaves no backup", async () => {
    await store("gone");
    points.arm("keeper.backup.delete");
    const deleted = client.deleteBackup(ID, "gone").catch(() => "failed");
    const pid = await points.reached();
    await killKeeper(pid);
    expect(await deleted).toBe("failed");
    expect(await backups()).not.toContain("gone");
    await client.deleteBackup(ID, "gone");
    expect(existsSync(pathOf("backups", "gone"))).toBe(false);
  });

  test("in the middle of an archive's deletion is followed by its end", async () => {
    await store("last");
    points.arm("keeper.archive.delete");
    const deleted = client.deleteArchive(ID).catch(() => "failed");
    const pid = await points.reached();
    await killKeeper(pid);
    expect(await deleted).toBe("failed");
    expect(await client.archive(ID)).toBeNull();
    await until("the deletion is finished", () => !existsSync(pathOf()));
  });
});

test("doctor says that backups are on the disk of the data", async () => {
  const { stdout } = await pilvi.run("doctor");
  expect(stdout).toContain("warn  backups are on the same disk as the data");
  expect(stdout).toContain("PILVI_BACKUP_TARGETS");
});

test("doctor says that the keeper does not answer", async () => {
  const keeper = pilvi.runningPid("keeper");
  process.kill(keeper, "SIGSTOP");
  try {
    const { stdout } = await pilvi.run("doctor");
    expect(stdout).toContain(
      "warn  backups cannot be stored: the keeper of backups, or the host, does not answer",
    );
  } finally {
    process.kill(keeper, "SIGCONT");
  }
});

test("doctor names the reason when backups cannot be stored", async () => {
  const folder = join(pilvi.dataDir, "backups");
  const away = `${folder}.away`;
  renameSync(folder, away);
  try {
    await client.store(ID, newId("snapshot"), streamOf(BYTES, 1024 ** 2), never).catch(() => undefined);
    await until("doctor names it", async () =>
      /warn  backups cannot be stored: .*backups/.test((await pilvi.run("doctor")).stdout),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
    renameSync(away, folder);
  }
});
