// A host that takes up an earlier host's instances: running engines, interrupted changes and removals, odd folders.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { chownSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freshDataDir, until } from "../../tests/support/pilvi/pilvi.ts";
import { enginePidsAt } from "../../tests/support/pilvi/processes.ts";
import { freePort } from "../../tests/support/pilvi/ports.ts";
import { loadConfig } from "../config.ts";
import { cacheSpec } from "../drivers/test-support.ts";
import { createLog } from "../lib/log.ts";
import { Host } from "./host.ts";
import { ADOPTION_MS, hostSettings } from "./test-support.ts";
import { textInFormat1 } from "../contracts/test-support.ts";
import type { CacheSpec } from "../contracts/instance-spec.ts";
import { canSwitchUsers, uidOfPort } from "./os/accounts.ts";
import { instanceFolder } from "./os/layout.ts";
import { readManifest, writeManifest, type Manifest } from "./manifest/manifest.ts";

let dataDir: string;
let hosts: Host[] = [];

beforeEach(() => {
  dataDir = freshDataDir();
});

afterEach(async () => {
  // The last host has all engines; the others have let go of theirs.
  await hosts.at(-1)?.close();
  hosts = [];
  rmSync(dataDir, { recursive: true, force: true });
});

async function startHost(): Promise<Host> {
  hosts.at(-1)?.release();
  const enginesDir = loadConfig(process.env).enginesDir;
  const settings = { ...hostSettings({ dataDir, enginesDir }), adoptionMs: ADOPTION_MS };
  const host = new Host(settings, createLog("host", "silent"));
  hosts.push(host);
  await host.start();
  return host;
}

const pidsOf = (id: string) => enginePidsAt(join(dataDir, "instances", id));

async function change(id: string, edit: (manifest: Manifest) => Manifest): Promise<void> {
  const { manifest: path } = instanceFolder(dataDir, id);
  const manifest = readManifest(path);
  if (manifest === null) throw new Error("there is no manifest");
  await writeManifest(path, edit(manifest));
}

test("a running engine is adopted before any change is published, and its end is noticed", async () => {
  const spec = cacheSpec(freePort(), "moi");
  await (await startHost()).ensure(spec);
  const [pid = 0] = pidsOf(spec.id);
  const host = await startHost();
  expect(host.observe(spec.id)).toMatchObject({ state: "running", crashes: 0 });
  expect(pidsOf(spec.id)).toEqual([pid]);
  process.kill(pid, "SIGKILL");
  await until(
    "it is started again",
    () => host.observe(spec.id).crashes === 1 && pidsOf(spec.id).length === 1,
  );
  expect((await host.ensure(spec)).state).toBe("running");
});

test("an engine that ended while no host ran is started", async () => {
  const spec = cacheSpec(freePort(), "moi");
  const former = await startHost();
  await former.ensure(spec);
  former.release();
  for (const pid of pidsOf(spec.id)) process.kill(pid, "SIGKILL");
  await until("it has ended", () => pidsOf(spec.id).length === 0);
  const host = await startHost();
  await until("it runs", () => host.observe(spec.id).state === "running");
});

test("a change that was recorded but not applied is applied", async () => {
  const spec = cacheSpec(freePort(), "moi");
  await (await startHost()).ensure(spec);
  const [pid] = pidsOf(spec.id);
  const changed = { ...spec, memoryBytes: 32 * 1024 ** 2 };
  await change(spec.id, (manifest) => ({ ...manifest, spec: changed, state: "changed" }));
  const host = await startHost();
  await until("it runs", () => host.observe(spec.id).state === "running");
  expect(pidsOf(spec.id)).not.toEqual([pid ?? 0]);
  const conf = readFileSync(join(instanceFolder(dataDir, spec.id).conf, "engine.conf"), "utf8");
  expect(conf).toContain(`maxmemory ${32 * 1024 ** 2}\n`);
  expect(readManifest(instanceFolder(dataDir, spec.id).manifest)?.state).toBe("awake");
});

test("a change of an instance whose engine runs although its manifest says asleep reaches the engine", async () => {
  const spec = cacheSpec(freePort(), "moi");
  await (await startHost()).ensure(spec);
  const [pid] = pidsOf(spec.id);
  const changed = { ...spec, memoryBytes: 32 * 1024 ** 2 };
  await change(spec.id, (manifest) => ({ ...manifest, spec: changed, state: "asleep" }));
  await startHost();
  const conf = join(instanceFolder(dataDir, spec.id).conf, "engine.conf");
  const hasChanged = () => readFileSync(conf, "utf8").includes(`maxmemory ${32 * 1024 ** 2}\n`);
  await until("its engine was started with the change", hasChanged);
  await until("the former engine has ended", () => !pidsOf(spec.id).includes(pid ?? 0));
});

test("an interrupted removal is finished", async () => {
  const spec = cacheSpec(freePort(), "moi");
  await (await startHost()).ensure(spec);
  await change(spec.id, (manifest) => ({ ...manifest, state: "removing" }));
  const host = await startHost();
  await until("it is gone", () => host.observe(spec.id).state === "absent");
  expect(pidsOf(spec.id)).toEqual([]);
  expect(existsSync(instanceFolder(dataDir, spec.id).path)).toBe(false);
});

test("the folder of a create that was cut short before its manifest is deleted, and a folder with data is kept", async () => {
  const empty = instanceFolder(dataDir, "cache-empty");
  const withData = instanceFolder(dataDir, "cache-with-data");
  mkdirSync(empty.path, { recursive: true });
  writeFileSync(`${empty.manifest}.tmp`, "{");
  mkdirSync(withData.data, { recursive: true });
  mkdirSync(join(dataDir, "instances", "lost+found"));
  const host = await startHost();
  expect(existsSync(empty.path)).toBe(false);
  expect(existsSync(withData.data)).toBe(true);
  expect(host.observe("cache-empty").state).toBe("absent");
});

test("a manifest that cannot be understood keeps its data until the instance is removed", async () => {
  const folder = instanceFolder(dataDir, "cache-odd");
  mkdirSync(folder.data, { recursive: true });
  writeFileSync(folder.manifest, '{"spec":');
  const host = await startHost();
  expect(host.observe("cache-odd").state).toBe("failed");
  const ensured = host.ensure(cacheSpec(freePort(), "moi", { id: "cache-odd" }));
  await expect(ensured).rejects.toThrow("cannot be understood");
  await ensured.catch(() => undefined);
  expect(existsSync(folder.data)).toBe(true);
  await host.remove("cache-odd");
  expect(existsSync(folder.path)).toBe(false);
});

test("a first manifest that a power cut left empty, without data, is that of an instance that is yet to be made", async () => {
  const spec = cacheSpec(freePort(), "moi");
  const folder = instanceFolder(dataDir, spec.id);
  mkdirSync(folder.path, { recursive: true });
  writeFileSync(folder.manifest, "");
  const host = await startHost();
  expect(host.observe(spec.id).state).toBe("absent");
  expect(await host.ensure(spec)).toMatchObject({ state: "running" });
  await host.remove(spec.id);
});

test("a host can end although a known instance has no folder", async () => {
  mkdirSync(instanceFolder(dataDir, "cache-empty").path, { recursive: true });
  const host = await startHost();
  await host.close();
});

test("a manifest of an earlier Pilvi, without a record of restarts, is read", async () => {
  const spec = cacheSpec(freePort(), "moi");
  const folder = instanceFolder(dataDir, spec.id);
  mkdirSync(folder.path, { recursive: true });
  const former = {
    spec,
    desiredState: "present",
    engine: { name: "valkey", major: "8" },
    adminPassword: "x",
  };
  writeFileSync(folder.manifest, textInFormat1(former));
  expect(readManifest(folder.manifest)).toMatchObject({ spec, state: "awake" });
  expect(readManifest(`${folder.manifest}.none`)).toBeNull();
});

const uidIn = (id: string) => readManifest(instanceFolder(dataDir, id).manifest)?.uid;

test("an instance keeps its uid across changes and hosts, and owns its data", async () => {
  const spec = cacheSpec(freePort(), "moi");
  await (await startHost()).ensure(spec);
  const uid = uidIn(spec.id);
  const own = canSwitchUsers() ? uidOfPort(spec.exposure.port ?? 0) : null;
  expect(uid).toBe(own);
  expect(statSync(instanceFolder(dataDir, spec.id).data).uid).toBe(own ?? process.getuid?.() ?? 0);
  await (await startHost()).ensure({ ...spec, memoryBytes: spec.memoryBytes / 2 });
  expect(uidIn(spec.id)).toBe(own);
});

test("a new instance gets no uid of another instance, nor of the owner of data without a manifest", async () => {
  const [first, second, third] = [0, 1, 2].map(() => cacheSpec(freePort(), "moi")) as [
    CacheSpec,
    CacheSpec,
    CacheSpec,
  ];
  const host = await startHost();
  await host.ensure(first);
  await host.close();
  const [ofSecond, ofThird] = [second, third].map(({ exposure }) => uidOfPort(exposure.port ?? 0)) as [
    number,
    number,
  ];
  await change(first.id, (manifest) => ({ ...manifest, uid: canSwitchUsers() ? ofSecond : null }));
  const lost = instanceFolder(dataDir, "cache-lost");
  mkdirSync(lost.data, { recursive: true });
  if (canSwitchUsers()) chownSync(lost.data, ofThird, ofThird);
  const later = await startHost();
  for (const spec of [second, third]) await later.ensure(spec);
  const given = [first, second, third].map(({ id }) => uidIn(id));
  if (!canSwitchUsers()) return expect(given).toEqual([null, null, null]);
  expect(given[0]).toBe(ofSecond);
  expect(new Set([...given, ofThird]).size).toBe(4);
});
