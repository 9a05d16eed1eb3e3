// A power cut after a build, or while a command runs: a disk that has only what was written to it until then.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { copyFileSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ApplicationHost } from "../../../tests/support/applications/host.ts";
import { freshDataDir, until } from "../../../tests/support/pilvi/pilvi.ts";
import { readIfPresent } from "../../lib/files.ts";
import type { Host } from "../host.ts";
import { releaseApp } from "../os/layout.ts";

const disks = mkdtempSync(join(tmpdir(), "pilvi-disks-"));
const [disk, cut] = [join(disks, "disk"), join(disks, "cut")];
const [dataDir, later] = [freshDataDir(), freshDataDir()];
let host: ApplicationHost;

/** The kernel writes to the disk by itself only after minutes. */
function mount(image: string, folder: string): void {
  const options = ["-o", "loop,commit=300,X-mount.mode=755", image, folder];
  expect(Bun.spawnSync(["mount", ...options]).exitCode).toBe(0);
}

beforeAll(async () => {
  writeFileSync(disk, "");
  truncateSync(disk, 256 * 1024 ** 2);
  expect(Bun.spawnSync(["mkfs.ext4", "-q", disk]).exitCode).toBe(0);
  mount(disk, dataDir);
  host = new ApplicationHost({}, dataDir);
  await host.start();
});

afterAll(async () => {
  await host.host.close();
  Bun.spawnSync(["umount", dataDir]);
  await host.close();
  for (const folder of [later, disks]) rmSync(folder, { recursive: true, force: true });
});

/** Starts a host on what the disk has by now. */
async function afterPowerCut(check: (host: Host) => void): Promise<void> {
  copyFileSync(disk, cut);
  mount(cut, later);
  const next = new ApplicationHost({}, later);
  try {
    await next.start();
    check(next.host);
  } finally {
    await next.host.close();
    Bun.spawnSync(["umount", later]);
  }
}

test("a build whose end is kept has the whole release", async () => {
  const steps = [{ name: "build", command: "for i in 1 2 3; do echo built > out$i; done" }];
  const { id } = await host.build({ steps }, { "a.txt": "a" });
  const end = join(dataDir, "builds", id, "build.json.kept");
  await until("the end is kept", () => readIfPresent(end)?.includes('"succeeded"') === true);
  await afterPowerCut((next) => {
    expect(next.builds.observe(id)).toMatchObject({ state: "succeeded" });
    expect(next.builds.release(id)).toMatchObject({ id });
    const texts = ["out1", "out2", "out3"].map((name) => readIfPresent(join(releaseApp(later, id), name)));
    expect(texts).toEqual(["built\n", "built\n", "built\n"]);
  });
});

test("a command in a release that had begun does not run again", async () => {
  const { id: release } = await host.build({}, { "a.txt": "a" });
  const steps = [{ name: "command", command: "echo begun; sleep 936" }];
  const { id } = await host.orderTar({ release, steps }, new Uint8Array());
  await until("it has begun", async () => (await host.texts(id)).includes("begun"));
  await afterPowerCut((next) => {
    expect(next.builds.observe(id)).toMatchObject({ state: "failed", failure: { code: "interrupted" } });
  });
});
