// Access of the users of an installation by root to its sockets and processes: each user reaches only what it needs.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { CONTROL_ACCOUNT, GATEWAY_ACCOUNT } from "../../../src/host/os/accounts.ts";
import { until } from "../../support/pilvi/pilvi.ts";
import { makePostgres, HostileLoad, type Place } from "../../support/load/hostile-load.ts";
import { IS_ROOT, runCommand } from "../../support/pilvi/program.ts";

const NOBODY = 65_534;

let hostileLoad: HostileLoad;
/** All sockets of the installation by their owners' names. */
let sockets: Record<string, string>;
/** All processes of the installation by their owners' names. */
let processes: Record<string, number>;

beforeAll(async () => {
  hostileLoad = await HostileLoad.begin();
  const { pilvi } = hostileLoad;
  const run = join(pilvi.dataDir, "run");
  const names = ["store", ...engines().map(({ id }) => id)];
  sockets = {
    host: join(run, "host.sock"),
    link: join(run, "gateway.sock"),
    ...Object.fromEntries(names.map((id) => [id, socketOf(id)])),
  };
  await until("all processes run", () => pilvi.pidOf("gateway") !== undefined);
  processes = {
    ...Object.fromEntries(
      (["host", "control", "gateway"] as const).map((name) => [name, pilvi.runningPid(name)]),
    ),
    ...Object.fromEntries(names.map((id) => [id, pilvi.enginePids(id)[0] ?? 0])),
  };
});

afterAll(async () => {
  await hostileLoad.end();
});

/** The instances that are awake. */
function engines(): Place[] {
  return hostileLoad.neighbours;
}

function socketOf(id: string): string {
  const run = join(hostileLoad.pilvi.dataDir, "instances", id, "run");
  const name = readdirSync(run).find((each) => statSync(join(run, each)).isSocket());
  return join(run, name ?? "");
}

function asUser(uid: number): string[] {
  return ["setpriv", `--reuid=${uid}`, `--regid=${uid}`, "--clear-groups"];
}

function loginAt({ port, password }: Place) {
  return { host: "127.0.0.1", port, user: "app", password };
}

/** The names of the targets on which a shell command succeeds. */
async function reach(uid: number, command: string, all: Record<string, string | number>): Promise<string[]> {
  const reached: string[] = [];
  for (const [name, what] of Object.entries(all)) {
    const { code } = await runCommand([
      ...asUser(uid),
      "sh",
      "-c",
      `${command} "$1" 2>/dev/null`,
      "sh",
      String(what),
    ]);
    if (code === 0) reached.push(name);
  }
  return reached.sort();
}

function uidOf(pid: number): number {
  return statSync(`/proc/${pid}`).uid;
}

describe.skipIf(!IS_ROOT)("in an installation by root", () => {
  test("control reaches the host and the store", async () => {
    expect(await reach(CONTROL_ACCOUNT.uid, "test -w", sockets)).toEqual(["host", "store"]);
    expect(await reach(CONTROL_ACCOUNT.uid, "kill -0", processes)).toEqual(["control"]);
  });

  test("the gateway reaches engines of customers, and its own end of the link", async () => {
    const customers = engines().map(({ id }) => id);
    expect(await reach(GATEWAY_ACCOUNT.uid, "test -w", sockets)).toEqual([...customers, "link"].sort());
    expect(await reach(GATEWAY_ACCOUNT.uid, "kill -0", processes)).toEqual(["gateway"]);
  });

  test("an engine reaches itself", async () => {
    for (const { id } of [...engines(), { id: "store" }]) {
      const uid = uidOf(processes[id] ?? 0);
      expect(await reach(uid, "test -w", sockets)).toEqual([id]);
      expect(await reach(uid, "kill -0", processes)).toEqual([id]);
    }
  });

  test("another user of the machine reaches nothing", async () => {
    expect(await reach(NOBODY, "test -w", sockets)).toEqual([]);
    expect(await reach(NOBODY, "kill -0", processes)).toEqual([]);
  });

  test("an engine that replaces its socket by a link leads the host to no other user's socket", async () => {
    const { pilvi } = hostileLoad;
    const [mine, other] = [await makePostgres(pilvi), await makePostgres(pilvi)];
    const uid = uidOf(pilvi.enginePids(mine.id)[0] ?? 0);
    const { exitCode } = Bun.spawnSync([...asUser(uid), "ln", "-sf", socketOf(other.id), socketOf(mine.id)]);
    expect(exitCode).toBe(0);
    await pilvi.api("POST", `${mine.path}/databases`, { name: "planted" });
    await until("the host has noticed", async () => {
      const { body } = await pilvi.api<{ data: { meta: { last_error: unknown } } }>("GET", mine.path);
      return body.data.meta.last_error !== null;
    });
    const customer = new Client({ ...loginAt(other), database: "main" });
    await customer.connect();
    const { rowCount } = await customer.query("select from pg_database where datname = 'planted'");
    expect(rowCount).toBe(0);
    await customer.end();
  });

  test("only root reads the memory of the gateway", async () => {
    const memory = {
      gateway: `/proc/${processes.gateway}/environ`,
      control: `/proc/${processes.control}/environ`,
    };
    for (const uid of [CONTROL_ACCOUNT.uid, GATEWAY_ACCOUNT.uid, NOBODY]) {
      expect(await reach(uid, "cat >/dev/null", memory)).toEqual([]);
    }
  });
});
