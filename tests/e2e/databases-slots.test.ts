// Warm slots as a whole Pilvi keeps them: without a login, handed over once, and never lost or doubled by a kill.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { chownSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createConnection } from "mysql2/promise";
import { Client } from "pg";
import { findEngines } from "../../src/engines/installed.ts";
import { userName } from "../../src/lib/libc.ts";
import { killPilvi } from "../crash/databases-disasters.ts";
import {
  connectPg,
  createCluster,
  deleteCluster,
  firstOf,
  orderCluster,
  untilCluster,
} from "../support/databases.ts";
import { Failpoints, isAlive, startPilvi, until, type TestPilvi } from "../support/pilvi.ts";

/** Whoever builds slots when Pilvi runs as root. */
const BUILDER = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

let pilvi: TestPilvi;
let failpoints: Failpoints;

beforeAll(async () => {
  failpoints = new Failpoints();
  pilvi = await startPilvi({ env: { ...failpoints.env, PILVI_WARM_SLOTS: "1" } });
  await untilFull();
});

afterAll(async () => {
  await pilvi.close();
  failpoints.close();
});

/** The folders of all slots of an engine, complete or not. */
function slotsOf(engine: "postgres" | "mariadb"): string[] {
  const root = join(pilvi.dataDir, "slots");
  return readdirSync(root)
    .filter((key) => key.startsWith(engine))
    .flatMap((key) => readdirSync(join(root, key)).map((name) => join(root, key, name)));
}

async function untilFull(): Promise<void> {
  await until(
    "there is one slot of each engine, and nothing else",
    () =>
      [slotsOf("postgres"), slotsOf("mariadb")].every(
        (slots) => slots.length === 1 && slots[0]?.endsWith(".building") === false,
      ),
    60_000,
  );
}

/** Postgres keeps what tells one cluster from all others at the beginning of this file. */
function systemIdentifierOf(slot: string): string {
  return readFileSync(join(slot, "data/global/pg_control")).readBigUInt64LE(0).toString();
}

/** Starts an engine on a copy of a slot, has it asked something, and ends it. */
async function withCopy<T>(
  engine: "postgres" | "mariadb",
  argumentsFor: (data: string, folder: string) => string[],
  ask: (folder: string) => Promise<T>,
): Promise<T> {
  const [slot = ""] = slotsOf(engine);
  const folder = mkdtempSync(join(pilvi.dataDir, "copy-"));
  const data = join(folder, "data");
  cpSync(join(slot, "data"), data, { recursive: true });
  mkdirSync(join(data, "socket"));
  if (BUILDER.uid !== undefined) {
    for (const path of readdirSync(folder, { recursive: true, encoding: "utf8" }))
      chownSync(join(folder, path), BUILDER.uid, BUILDER.gid);
    chownSync(folder, BUILDER.uid, BUILDER.gid);
  }
  const installed = (await findEngines(pilvi.env.PILVI_ENGINES_DIR ?? "")).find(
    ({ name }) => name === engine,
  );
  if (installed === undefined) throw new Error(`${engine} is not installed`);
  const child = Bun.spawn([installed.program, ...argumentsFor(data, installed.home)], {
    cwd: data,
    env: installed.env,
    stdio: ["ignore", "ignore", "ignore"],
    ...BUILDER,
  });
  try {
    return await ask(data);
  } finally {
    child.kill("SIGKILL");
    await child.exited;
    rmSync(folder, { recursive: true });
  }
}

function postgresArguments(data: string, ...more: string[]): string[] {
  return ["-D", data, "-c", "listen_addresses=", "-c", "unix_socket_directories=socket", ...more];
}

test("a slot of Postgres lets nobody in as it is", async () => {
  const code = await withCopy(
    "postgres",
    (data) => postgresArguments(data),
    async (data) => {
      let refusal: unknown;
      await until("it refuses", async () => {
        const client = new Client({ host: join(data, "socket"), user: "pilvi_admin", database: "postgres" });
        const error = await client.connect().catch((reason: unknown) => reason);
        refusal = (error as { code?: string }).code;
        return refusal === "28000";
      });
      return refusal;
    },
  );
  expect(code).toBe("28000");
});

test("a slot of Postgres has no role that could log in but the administrator, which has no password", async () => {
  const roles = await withCopy(
    "postgres",
    (data) => {
      Bun.write(join(data, "pg_hba.conf"), "local all all trust\n");
      return postgresArguments(data);
    },
    async (data) => {
      let rows: unknown;
      await until("it answers", async () => {
        const client = new Client({ host: join(data, "socket"), user: "pilvi_admin", database: "postgres" });
        return await client
          .connect()
          .then(async () => {
            rows = (
              await client.query(
                "select rolname, rolpassword from pg_authid where rolcanlogin or rolpassword is not null",
              )
            ).rows;
            await client.end();
            return true;
          })
          .catch(() => false);
      });
      return rows;
    },
  );
  expect(roles).toEqual([{ rolname: "pilvi_admin", rolpassword: null }]);
});

test("a slot of MariaDB has no user that could log in but the host's own, whom the kernel names", async () => {
  const users = await withCopy(
    "mariadb",
    (data, home) => [
      "--no-defaults",
      `--datadir=${data}`,
      "--skip-networking",
      "--socket=socket/s",
      `--pid-file=${data}/pid`,
      `--lc-messages-dir=${home}/usr/share/mysql`,
      `--character-sets-dir=${home}/usr/share/mysql/charsets`,
    ],
    async (data) => {
      let rows: unknown;
      await until("it answers", async () => {
        const user = userName(process.getuid?.() ?? 0) ?? "root";
        return await createConnection({ socketPath: join(data, "socket/s"), user, database: "mysql" })
          .then(async (connection) => {
            const sql =
              "select user from global_priv where not json_value(priv, '$.account_locked') <=> 1 and user <> 'PUBLIC'";
            rows = (await connection.query(sql))[0];
            await connection.end();
            return true;
          })
          .catch(() => false);
      });
      return rows;
    },
  );
  expect(users).toEqual([{ user: userName(process.getuid?.() ?? 0) }]);
});

test("a create takes the slot, and another one is made", async () => {
  await untilFull();
  const [slot = ""] = slotsOf("postgres");
  const identifier = systemIdentifierOf(slot);
  const cluster = await createCluster(pilvi);
  const client = await connectPg(cluster);
  expect(await firstOf(client, "select system_identifier from pg_control_system()")).toBe(identifier);
  await client.end();
  await untilFull();
  expect(systemIdentifierOf(slotsOf("postgres")[0] ?? "")).not.toBe(identifier);
  await deleteCluster(pilvi, cluster.id);
});

test.each(["slots.begun", "slots.built", "slots.taken", "slots.given"])(
  "a kill of the host at %s leaves nothing behind, and the create succeeds",
  async (place) => {
    await untilFull();
    failpoints.arm(place);
    const { id } = await orderCluster(pilvi);
    const host = await failpoints.reached();
    const whole = killPilvi(pilvi, ["host"]);
    failpoints.release();
    await whole;
    expect(isAlive(host)).toBe(false);
    const cluster = await untilCluster(pilvi, id, "available");
    await (await connectPg(cluster)).end();
    await untilFull();
    const folder = join(pilvi.dataDir, "instances", id);
    expect(readdirSync(folder).filter((name) => name.startsWith("build"))).toBeEmpty();
    await deleteCluster(pilvi, id);
  },
);
