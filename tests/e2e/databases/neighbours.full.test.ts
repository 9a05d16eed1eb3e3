// Clusters of two organizations on one machine: neither reaches the other's data, and neither takes the other's memory.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { Connection } from "mysql2/promise";
import { CONTROL_ACCOUNT } from "../../../src/host/os/accounts.ts";
import { findCgroups } from "../../../src/host/os/cgroup-backends.ts";
import type { DatabaseClusterResource } from "../../../src/resources/databases/schema.ts";
import {
  connectMysql,
  connectPg,
  createCluster,
  firstOf,
  firstOfMysql,
  loginOf,
  MYSQL,
  POSTGRES,
  processesOf,
  untilAnswers,
  untilCluster,
  startDatabases,
} from "../../support/pilvi/databases.ts";
import { until, type TestPilvi } from "../../support/pilvi/pilvi.ts";
import { runProgram } from "../../support/clients/programs.ts";

const isRoot = process.getuid?.() === 0;

/** More than the memory of the smallest cluster of either engine. */
const TOO_MUCH_MB = 1_500;

let pilvi: TestPilvi;
let postgres: DatabaseClusterResource;
let mysql: DatabaseClusterResource;
let otherPostgres: DatabaseClusterResource;
let otherMysql: DatabaseClusterResource;

beforeAll(async () => {
  pilvi = await startDatabases();
  const said = await pilvi.run("token", "create", "--name", "other", "--organization", "other", "--json");
  const { token } = JSON.parse(said.stdout) as { token: string };
  const other = { authorization: `Bearer ${token}` };
  [postgres, otherPostgres] = [await createCluster(pilvi), await createCluster(pilvi, {}, other)];
  mysql = await createCluster(pilvi, { type: MYSQL });
  otherMysql = await createCluster(pilvi, { type: MYSQL }, other);
});

afterAll(async () => {
  await pilvi.close();
});

describe("clusters of two organizations", () => {
  test("are hidden from each other", async () => {
    const answer = await pilvi.api("GET", `/databases/clusters/${otherPostgres.id}`);
    expect(answer.status).toBe(404);
  });

  test("have their own identity, and passwords that open no other cluster", async () => {
    const identifiers = [];
    for (const cluster of [postgres, otherPostgres]) {
      const client = await connectPg(cluster);
      identifiers.push(await firstOf(client, "select system_identifier from pg_control_system()"));
      await client.end();
    }
    expect(new Set(identifiers).size).toBe(2);
    const { password } = loginOf(postgres);
    await expect(connectPg(otherPostgres, { password })).rejects.toMatchObject({ code: "28P01" });
    const wrong = { password: loginOf(mysql).password };
    await expect(connectMysql(otherMysql, wrong)).rejects.toMatchObject({ errno: 1045 });
  });

  test.skipIf(!isRoot)("run as users of their own", () => {
    const uids = [postgres, otherPostgres, mysql, otherMysql].map(uidOf);
    expect(new Set([...uids, 0, CONTROL_ACCOUNT.uid]).size).toBe(6);
  });

  test.skipIf(!isRoot).each([
    ["Postgres", () => [postgres, otherPostgres]],
    ["MySQL", () => [mysql, otherMysql]],
  ] as const)("cannot get at each other's files, sockets and processes: %s", async (_, clusters) => {
    const [mine, other] = clusters();
    if (mine === undefined || other === undefined) throw new Error("there are two clusters");
    const folder = join(pilvi.dataDir, "instances", other.id);
    const [pid] = processesOf(pilvi, other.id);
    const attempts = [
      ["ls", join(folder, "data")],
      ["ls", join(folder, "conf")],
      ["ls", join(folder, "run")],
      ["cat", join(folder, "manifest.json")],
      ["cat", join(folder, "engine.log")],
      ["touch", join(folder, "new")],
      ["cat", join(folder, "run", socketOf(other))],
      ["kill", "-0", String(pid)],
      ["ls", `/proc/${pid}/fd`],
      ["cat", `/proc/${pid}/environ`],
      ["cat", join(pilvi.dataDir, "key")],
      ["ls", join(pilvi.dataDir, "slots", "x")],
    ];
    for (const attempt of attempts) {
      const command = [
        "setpriv",
        `--reuid=${uidOf(mine)}`,
        `--regid=${uidOf(mine)}`,
        "--clear-groups",
        ...attempt,
      ];
      await expect(runProgram(command), attempt.join(" ")).rejects.toThrow(
        /denied|not permitted|No such file/i,
      );
    }
  });
});

describe("the limits in meta.limits are in force", () => {
  test("in Postgres", async () => {
    const { limits } = postgres.meta;
    const client = await connectPg(postgres);
    expect(await firstOf(client, "show max_connections")).toBe(String((limits?.max_connections ?? 0) + 10));
    expect(await firstOf(client, "show shared_buffers")).toBe("128MB");
    await client.end();
    expect(limits?.memory_bytes).toBe(1024 ** 3);
    expectInGroup(postgres);
  });

  test("in MySQL", async () => {
    const { limits } = mysql.meta;
    const connection = await connectMysql(mysql);
    expect(await firstOfMysql(connection, "select @@max_connections")).toBe(
      (limits?.max_connections ?? 0) + 5,
    );
    expect(await firstOfMysql(connection, "select @@innodb_buffer_pool_size")).toBeLessThan(
      (limits?.memory_bytes ?? 0) / 2,
    );
    await connection.end();
    expect(limits?.memory_bytes).toBe(512 * 1024 ** 2);
    expectInGroup(mysql);
  });
});

describe.skipIf(findCgroups("/") === null)("a cluster that wants more memory than it has", () => {
  test("Postgres loses its sessions, keeps its data, and its neighbour notices nothing", async () => {
    const neighbour = await connectPg(otherPostgres);
    const client = await connectPg(postgres);
    await client.query("create table kept as select 42 as n");
    const [postmaster] = processesOf(pilvi, postgres.id);
    // Sorting may use all of the memory, so that only the kernel's limit stops it.
    await client.query(`set work_mem = '${TOO_MUCH_MB}MB'`);
    const greedy = `select count(*) from (select repeat(md5(n::text), 32768) as t from generate_series(1, ${TOO_MUCH_MB}) n order by t offset 1) s`;
    await expect(client.query(greedy)).rejects.toThrow();
    await untilReads(postgres, "select n from kept", 42);
    expect(processesOf(pilvi, postgres.id)[0]).toBe(postmaster ?? 0);
    expect(await firstOf(neighbour, "select 1")).toBe(1);
    await neighbour.end();
    await untilCluster(pilvi, postgres.id, "available");
  });

  test("MySQL is started again, keeps its data, and its neighbour notices nothing", async () => {
    const neighbour = await connectMysql(otherMysql);
    const connection = await connectMysql(mysql);
    connection.on("error", () => undefined);
    await connection.query("create table kept as select 42 as n");
    const [before] = processesOf(pilvi, mysql.id);
    await expect(fillMemory(connection)).rejects.toThrow();
    await untilReads(mysql, "select n from kept", 42);
    await untilCluster(pilvi, mysql.id, "available");
    expect(processesOf(pilvi, mysql.id)[0]).not.toBe(before ?? 0);
    expectInGroup(mysql);
    expect(await firstOfMysql(neighbour, "select 1")).toBe(1);
    await neighbour.end();
  });
});

/** Stores more and more in the variables of a session. */
async function fillMemory(connection: Connection): Promise<void> {
  for (let n = 0; n < TOO_MUCH_MB / 8; n++)
    await connection.query(`set @filling${n} = repeat('x', 8 * 1024 * 1024)`);
}

/** Every process of the cluster is in its cgroup, which has the limits that the API reports. */
function expectInGroup({ id, meta }: DatabaseClusterResource): void {
  const { limits } = meta;
  if (limits?.enforced_by === "engine" || limits === null) return;
  const root = "/sys/fs/cgroup";
  const isFirst = limits.enforced_by === "cgroup-v1";
  const [memory, cpu] = [isFirst ? join(root, "memory") : root, isFirst ? join(root, "cpu") : root];
  const read = (controller: string, name: string) =>
    readFileSync(join(controller, "pilvi", id, name), "utf8").trim();
  const most = read(memory, isFirst ? "memory.limit_in_bytes" : "memory.max");
  expect(Number(most)).toBe(limits.memory_bytes);
  const quota = isFirst ? read(cpu, "cpu.cfs_quota_us") : read(cpu, "cpu.max").split(" ")[0];
  expect(Number(quota)).toBe(Math.round((limits.cpus ?? 0) * 100_000));
  const weight = readFileSync(join(cpu, "pilvi", isFirst ? "cpu.shares" : "cpu.weight"), "utf8");
  expect(Number(weight) / (isFirst ? 1024 : 100)).toBe(availableParallelism());
  const inGroup = new Set(read(memory, "cgroup.procs").split("\n").map(Number));
  expect(processesOf(pilvi, id).filter((pid) => !inGroup.has(pid))).toEqual([]);
}

/** Waits until a new session reads the number; an early session may come before the engine noticed what it lost. */
async function untilReads(cluster: DatabaseClusterResource, sql: string, number: number): Promise<void> {
  await until(`${sql} gives ${number}`, async () => {
    await untilAnswers(cluster);
    try {
      if (cluster.attributes.type === POSTGRES) {
        const client = await connectPg(cluster);
        return (await firstOf(client, sql).finally(() => client.end())) === number;
      }
      const connection = await connectMysql(cluster);
      return (await firstOfMysql(connection, sql).finally(() => connection.end())) === number;
    } catch {
      return false;
    }
  });
}

function uidOf({ id }: DatabaseClusterResource): number {
  const status = readFileSync(`/proc/${processesOf(pilvi, id)[0]}/status`, "utf8");
  return Number(/^Uid:\s+(\d+)/m.exec(status)?.[1]);
}

function socketOf({ attributes: { connection } }: DatabaseClusterResource): string {
  return connection.protocol === "postgres" ? `.s.PGSQL.${connection.port}` : "engine.sock";
}
