// Clones of stopped instances of every engine by a copy of their folder: what they hold, who owns them, what is left of
// a copy that was ended.
import { SQL } from "bun";
import { afterEach, expect, test } from "bun:test";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { installedEngine, LoneEngine } from "../../../tests/support/engines/lone-engine.ts";
import { freshDataDir } from "../../../tests/support/pilvi/pilvi.ts";
import { freePort } from "../../../tests/support/pilvi/ports.ts";
import type { EngineName } from "../../contracts/engine-names.ts";
import type { InstanceSpec } from "../../contracts/instance-spec.ts";
import { specsOf } from "../../drivers/test-support.ts";
import { engineNamed } from "../../engines/index.ts";
import { copyFolder } from "./copy-folder.ts";
import type { DataBuild } from "./unpack.ts";

type Lone = LoneEngine<InstanceSpec>;

const NEVER = new AbortController().signal;
const open: Lone[] = [];

afterEach(async () => {
  for (const instance of open.splice(0)) await instance.close();
});

async function instanceOf(name: EngineName): Promise<Lone> {
  const spec = specsOf(freePort())[name];
  if (spec === undefined) throw new Error(`there is no spec for ${name}`);
  const direct = { ...spec, exposure: { ...spec.exposure, through: "engine" } } as InstanceSpec;
  const instance = new LoneEngine(engineNamed(name), await installedEngine(name), direct);
  open.push(instance);
  return instance;
}

function buildOf({ context, folder, backup: recipe }: Lone): DataBuild {
  const engine = engineNamed(context.installed.name);
  return {
    id: context.spec.id,
    engine,
    recipe,
    context,
    folder: folder.path,
    cgroups: null,
    isThrowAway: false,
    signal: NEVER,
    progress: () => undefined,
  };
}

/** Notes and reads a value as a customer. */
async function noted({ context }: Lone, value?: string): Promise<string> {
  const { kind, exposure } = context.spec;
  const port = exposure.port ?? 0;
  if (kind === "cache") {
    const client = new Bun.RedisClient(`redis://default:moi@127.0.0.1:${port}`, { autoReconnect: false });
    if (value !== undefined) await client.set("note", value);
    const found = await client.get("note");
    client.close();
    return found ?? "";
  }
  const adapter = kind === "mysql" ? "mysql" : "postgres";
  const login = { username: "app", password: "moi", database: "main", max: 1 };
  const db = new SQL({ adapter, hostname: "127.0.0.1", port, ...login });
  if (value !== undefined) {
    await db`create table notes (note varchar(100))`;
    await db`insert into notes values (${value})`;
  }
  const [row] = await db<{ note: string }[]>`select note from notes`;
  await db.close();
  return row?.note ?? "";
}

test.each(["valkey", "redis", "postgres", "mariadb"] as const)(
  "a stopped %s is cloned by a copy of its folder, and stays as it was",
  async (name) => {
    const source = await instanceOf(name);
    await source.start();
    await noted(source, "kept");
    await source.stop();
    const { facts, leftOut, leftOutPaths = [] } = await source.backup.cold(source.context);
    const clone = await instanceOf(name);
    const data = { path: source.folder.data, leftOut, leftOutPaths };
    expect(await copyFolder(buildOf(clone), data, NEVER)).toBeGreaterThan(0);
    const { installed } = source.context;
    const engine = { name, version: installed.version, major: engineNamed(name).majorOf(installed.version) };
    const whole = { ...facts, engine, isHot: false, dataBytes: 1, users: [], databases: [] };
    const backup = { stream: Buffer.alloc(0), facts: whole };
    await clone.withRestore(backup, async (context) => await clone.backup.recover(context));
    await clone.start();
    expect(await noted(clone)).toBe("kept");
    await source.start();
    expect(await noted(source)).toBe("kept");
  },
);

test("a copy of a folder belongs to the clone, follows no link, and lacks what is left out", async () => {
  const source = freshDataDir();
  mkdirSync(join(source, "inner"), { mode: 0o700 });
  for (const path of ["inner/file", "inner/left.tmp", "left.pid"])
    writeFileSync(join(source, path), "content");
  symlinkSync("/etc/hostname", join(source, "link"));
  chmodSync(join(source, "inner/file"), 0o600);
  const clone = await instanceOf("valkey");
  await copyFolder(buildOf(clone), { path: source, leftOut: ["left.pid", "**/*.tmp"] }, NEVER);
  const { data } = clone.folder;
  expect((readdirSync(data, { recursive: true }) as string[]).sort()).toEqual([
    "inner",
    "inner/file",
    "link",
  ]);
  expect(readlinkSync(join(data, "link"))).toBe("/etc/hostname");
  expect(lstatSync("/etc/hostname").uid).toBe(0);
  const { account } = clone.context;
  for (const path of [".", "inner", "inner/file", "link"])
    expect(lstatSync(join(data, path)).uid).toBe(account?.uid ?? process.getuid?.() ?? 0);
  rmSync(source, { recursive: true });
});

test("a copy without a source and an ended copy fail with their reasons", async () => {
  const clone = await instanceOf("valkey");
  const missing = { path: "/nonexistent/data", leftOut: [] };
  await expect(copyFolder(buildOf(clone), missing, NEVER)).rejects.toThrow("The data could not be copied.");
  const ended = AbortSignal.abort(new Error("a client came"));
  await expect(copyFolder(buildOf(clone), missing, ended)).rejects.toThrow("a client came");
});
