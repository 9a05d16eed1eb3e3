// Warm slots as a whole Pilvi keeps them: without a login, handed over once, and never lost or doubled by a kill.
import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createConnection } from "mysql2/promise";
import { Client } from "pg";
import { findEngines } from "../../../src/engines/installed.ts";
import { userName } from "../../../src/lib/libc.ts";
import { playSlotKill, slotsOf, untilSlotsAreFull } from "../../crash/databases-warm-pool.ts";
import {
  connectPg,
  createCluster,
  deleteCluster,
  firstOf,
  startDatabases,
} from "../../support/pilvi/databases.ts";
import { Failpoints, until, type TestPilvi } from "../../support/pilvi/pilvi.ts";

/** The user that builds slots when Pilvi runs as root. */
const BUILDER = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

let pilvi: TestPilvi;
let failpoints: Failpoints;

beforeAll(async () => {
  failpoints = new Failpoints();
  pilvi = await startDatabases({ ...failpoints.env, PILVI_WARM_SLOTS: "1" });
  await untilSlotsAreFull(pilvi);
});

afterAll(async () => {
  await pilvi.close();
  failpoints.close();
});

/** Postgres keeps the identifier of a cluster at the beginning of this file. */
function systemIdentifierOf(slot: string): string {
  return readFileSync(join(slot, "data/global/pg_control")).readBigUInt64LE(0).toString();
}

/** Starts an engine on a copy of a slot, sends it a query, and stops it. */
async function withCopy<T>(
  engine: "postgres" | "mariadb",
  argumentsFor: (data: string, folder: string) => string[],
  ask: (folder: string) => Promise<T>,
): Promise<T> {
  const [slot = ""] = slotsOf(pilvi, engine);
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

test("a slot of Postgres accepts no login", async () => {
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
      writeFileSync(join(data, "pg_hba.conf"), "local all all trust\n");
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

test("a slot of MariaDB has no user that could log in but the host's own, which the kernel authenticates", async () => {
  const users = await withCopy(
    "mariadb",
    (data, home) => [
      "--no-defaults",
      `--datadir=${data}`,
      `--tmpdir=${data}`,
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

test("a create takes the slot, and another slot is built", async () => {
  await untilSlotsAreFull(pilvi);
  const [slot = ""] = slotsOf(pilvi, "postgres");
  const identifier = systemIdentifierOf(slot);
  const cluster = await createCluster(pilvi);
  const client = await connectPg(cluster);
  expect(await firstOf(client, "select system_identifier from pg_control_system()")).toBe(identifier);
  await client.end();
  await untilSlotsAreFull(pilvi);
  expect(systemIdentifierOf(slotsOf(pilvi, "postgres")[0] ?? "")).not.toBe(identifier);
  await deleteCluster(pilvi, cluster.id);
});

test.each(["slots.begun", "slots.taken"])(
  "a kill of the host at %s leaves nothing behind, and the create succeeds",
  (place) => playSlotKill(pilvi, failpoints, place),
);
