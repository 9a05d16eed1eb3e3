// Instances with the manifests of an earlier release are started, or sleep on, from those manifests alone.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { freshDataDir, until } from "../../tests/support/pilvi/pilvi.ts";
import { freePort } from "../../tests/support/pilvi/ports.ts";
import { loadConfig } from "../config.ts";
import { manifestFrom, type Manifest } from "../contracts/manifest.ts";
import { createLog } from "../lib/log.ts";
import { ensureProgram } from "../processes/program/program.ts";
import { realtimeEngine } from "../processes/program/own-engines.ts";
import { Host } from "./host.ts";
import { readManifest } from "./manifest/manifest.ts";
import { instanceFolder } from "./os/layout.ts";
import { TestGateway } from "./test-support.ts";

const FIXTURES = resolve(import.meta.dir, "../../tests/fixtures");

let dataDir: string;
let host: Host | undefined;

beforeEach(() => {
  dataDir = freshDataDir();
});

afterEach(async () => {
  await host?.close();
  host = undefined;
  rmSync(dataDir, { recursive: true, force: true });
});

/** Starts a host that finds a manifest as the release left it, with a free port of this machine. */
async function startWith(release: string, name: string): Promise<Manifest> {
  const port = freePort();
  const recorded = await Bun.file(`${FIXTURES}/${release}/${name}.manifest.json`).text();
  const text = recorded.replace(/"port": *\d+/, `"port": ${port}`);
  const manifest = manifestFrom(text);
  const folder = instanceFolder(dataDir, manifest.spec.id);
  mkdirSync(folder.path, { recursive: true, mode: 0o711 });
  writeFileSync(folder.manifest, text, { mode: 0o600 });
  host = new Host(
    {
      dataDir,
      enginesDir: loadConfig(process.env).enginesDir,
      ownEngines: [realtimeEngine(await ensureProgram(dataDir))],
      bind: "127.0.0.1",
      certificate: null,
      warmSlots: 0,
      cgroups: null,
      allowPrivateWebhooks: false,
    },
    createLog("host", "silent"),
  );
  await host.start();
  return manifest;
}

describe.each(["release-f2f4ad0", "release-595f7bb"])("%s", (release) => {
  test.each(["cache.awake", "cache-hibernating.awake", "postgres.awake", "realtime.awake"])(
    "%s runs, with all of its spec",
    async (name) => {
      const { spec, engine, adminPassword } = await startWith(release, name);
      const observe = () => host?.observe(spec.id);
      await until(`${name} runs`, () => observe()?.state === "running");
      expect(observe()).toMatchObject({ lastError: null, crashes: 0, engine: { name: engine.name } });
      const path = instanceFolder(dataDir, spec.id).manifest;
      expect(readManifest(path)).toMatchObject({ spec, engine, adminPassword });
      expect(await host?.ensure(spec)).toMatchObject({ state: "running", lastError: null });
    },
  );

  test("a sleeping cache of the release sleeps on, and wakes for a client", async () => {
    const { spec, sleep } = await startWith(release, "cache-hibernating.asleep");
    const gateway = await TestGateway.connect(dataDir);
    expect(gateway.entries.get(spec.id)).toMatchObject({ state: "asleep", users: sleep.users });
    expect(host?.observe(spec.id)).toMatchObject({
      state: "asleep",
      sleep: { since: sleep.since, wakes: 0 },
    });
    expect(await gateway.wake(spec.id)).toMatchObject({ state: "running" });
    gateway.close();
  });

  test("a sleeping database cluster of the release sleeps on, with its recorded wake", async () => {
    const { spec, sleep } = await startWith(release, "postgres.asleep");
    const { lastWake, wakes } = sleep;
    expect(lastWake).not.toBeNull();
    expect(host?.observe(spec.id)).toMatchObject({ state: "asleep", sleep: { lastWake, wakes } });
  });
});
