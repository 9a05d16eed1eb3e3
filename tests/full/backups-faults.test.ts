// Seven faults in an archive, each as it is found at the target by a keeper that knows nothing else. A restore says what
// is wrong, and never ends in a cluster with less than was asked for.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { cpSync, readdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadConfig } from "../../src/config.ts";
import { Sealer } from "../../src/keeper/envelope.ts";
import type { DatabaseClusterResource } from "../../src/resources/databases/schema.ts";
import { openVault } from "../../src/processes/bootstrap/identity.ts";
import {
  connectPg,
  createCluster,
  deleteCluster,
  firstOf,
  startDatabases,
  untilCluster,
  type ClusterDocument,
} from "../support/pilvi/databases.ts";
import { until, type Answer, type TestPilvi } from "../support/pilvi/pilvi.ts";

const ROWS = 10_000;
const SEGMENT = /^[0-9A-F]{24}$/;
const NOW = `select to_char(clock_timestamp() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
/** Where a page of the log says which timeline it is of. */
const TIMELINE_AT = 4;

let pilvi: TestPilvi;
let id: string;
let at: string;
/** The archive as it was, and the pieces of its newest segment some time before. */
let intact: string;
let early: string;

beforeAll(async () => {
  pilvi = await startDatabases();
  [intact, early] = [join(pilvi.dataDir, "intact"), join(pilvi.dataDir, "early")];
  await fillArchive();
});
afterAll(() => pilvi.close());

const archive = () => join(pilvi.dataDir, "backups", "archives", id);
const inLog = (name: string) => join(archive(), "log", name);

/** Makes the archive of a cluster with some segments of log, and deletes the cluster: nothing is shipped any more. */
async function fillArchive(): Promise<void> {
  const config = { retention_days: 1, suspend_seconds: 0 };
  const source = await createCluster(pilvi, { name: "source", config });
  id = source.id;
  await until("the window begins", async () => (await read()).attributes.supports_pitr === "true");
  const client = await connectPg(source);
  const shipped = async () => {
    const now = String(await firstOf(client, NOW));
    await until(
      "the log is shipped",
      async () => ((await read()).meta.backup?.latest_restore_time ?? "") > now,
    );
    return now;
  };
  await client.query("create table kept (id int primary key, pad text)");
  await client.query(`insert into kept select n, repeat('x', 1000) from generate_series(2, ${ROWS}) n`);
  await shipped();
  keepArchive(join(archive(), "log"), early);
  await client.query("insert into kept values (1, 'the last')");
  at = await shipped();
  await client.end();
  await deleteCluster(pilvi, id);
  keepArchive(archive(), intact);
}

async function read(): Promise<DatabaseClusterResource> {
  return (await pilvi.api<ClusterDocument>("GET", `/databases/clusters/${id}`)).body.data;
}

/** Copies what the keeper may just change: it ships, and deletes the log before the backup. */
function keepArchive(from: string, to: string): void {
  const keeper = pilvi.runningPid("keeper");
  process.kill(keeper, "SIGSTOP");
  copyTree(from, to);
  process.kill(keeper, "SIGCONT");
}

/** With owners, which the keeper depends on. */
function copyTree(from: string, to: string): void {
  rmSync(to, { recursive: true, force: true });
  const { exitCode, stderr } = Bun.spawnSync(["cp", "--archive", from, to]);
  if (exitCode !== 0) throw new Error(stderr.toString());
}

/** The whole segments of the archive, the oldest first. */
function segments(): string[] {
  return readdirSync(join(archive(), "log"))
    .filter((name) => SEGMENT.test(name))
    .sort();
}

function piecesIn(folder: string): string[] {
  return readdirSync(folder).filter((name) => name.includes(".partial."));
}

/** A whole segment after that in which the backup ends. */
function middle(): string {
  const name = segments().at(-2);
  if (name === undefined) throw new Error("the archive has too few segments");
  return name;
}

function partOfBackup(): string {
  const [backup = ""] = readdirSync(join(archive(), "backups"));
  return join(archive(), "backups", backup, "parts", "000000");
}

/** Seals a changed segment as the keeper does, so that nothing but its content is wrong. */
async function reseal(name: string, change: (segment: Uint8Array) => void): Promise<void> {
  const vault = await openVault(loadConfig(pilvi.env));
  const sealer = new Sealer(vault.deriveKey("pilvi-backups"));
  const object = `archives/${id}/log/${name}`;
  const segment = await sealer.open(object, readFileSync(inLog(name)));
  change(segment);
  writeFileSync(inLog(name), await sealer.seal(object, segment));
}

const FAULTS: [fault: string, damage: () => void | Promise<void>, reason: RegExp][] = [
  ["a missing segment", () => rmSync(inLog(middle())), /gap between the segments/],
  [
    "a truncated segment",
    () => truncateSync(inLog(middle()), 1_000),
    /The segment [0-9A-F]{24} of the log is damaged/,
  ],
  [
    "flipped bits in the backup",
    () => {
      const bytes = readFileSync(partOfBackup());
      const half = Math.floor(bytes.length / 2);
      bytes.writeUInt8(bytes.readUInt8(half) ^ 0b101, half);
      writeFileSync(partOfBackup(), bytes);
    },
    /A part of the backup of 2\d{3}-\S+Z is damaged/,
  ],
  [
    "swapped segments",
    () => {
      const [one, other] = [inLog(middle()), inLog(segments().at(-1) ?? "")];
      renameSync(one, `${one}.x`);
      renameSync(other, one);
      renameSync(`${one}.x`, other);
    },
    /damaged/,
  ],
  [
    "a stale partial segment",
    () => {
      for (const name of piecesIn(join(archive(), "log"))) rmSync(inLog(name));
      for (const name of piecesIn(early)) cpSync(join(early, name), inLog(name));
      Bun.spawnSync(["chown", "-R", "--reference", archive(), archive()]);
    },
    /gap between the segments|archive reaches up to/,
  ],
  [
    "a segment of another timeline",
    () => reseal(middle(), (segment) => new DataView(segment.buffer).setUint32(TIMELINE_AT, 2, true)),
    /is of a later timeline/,
  ],
  [
    "a lost backup",
    () => rmSync(partOfBackup()),
    /A part of the backup of 2\d{3}-\S+Z is damaged or missing/,
  ],
];

async function restore(): Promise<Answer<ClusterDocument>> {
  const path = `/databases/clusters/${id}/restore`;
  for (;;) {
    const body = { name: "restored", restore_time: at };
    const answer = await pilvi.api<ClusterDocument>("POST", path, body);
    // The keeper has just been killed.
    if (answer.status !== 503 && !JSON.stringify(answer.body).includes("does not answer")) return answer;
  }
}

/** Has a new keeper find the archive with some damage. The former writes nothing more from the beginning on. */
async function meetNewKeeper(damage: () => void | Promise<void>): Promise<void> {
  const before = await pilvi.untilPid("keeper");
  process.kill(before, "SIGSTOP");
  copyTree(intact, archive());
  await damage();
  pilvi.kill("keeper");
  await until("another keeper runs", () => ![undefined, before].includes(pilvi.pidOf("keeper")));
}

test.each(FAULTS)("%s is named, and nothing is restored", async (_, damage, reason) => {
  await meetNewKeeper(damage);
  const { status, body } = await restore();
  if (status === 422) {
    expect(JSON.stringify(body)).toMatch(reason);
    return;
  }
  expect([status, body]).toMatchObject([201, { data: { attributes: { status: "restoring" } } }]);
  const failed = await untilCluster(pilvi, body.data.id, "restore_failed");
  expect(failed.meta.last_error).toMatch(reason);
  await deleteCluster(pilvi, body.data.id);
});

test("without a fault all rows are restored", async () => {
  await meetNewKeeper(() => {});
  const { status, body } = await restore();
  expect(status).toBe(201);
  const client = await connectPg(await untilCluster(pilvi, body.data.id, "available"));
  expect(await firstOf(client, "select count(*)::int from kept")).toBe(ROWS);
  await client.end();
});
