// A power cut after a build: a disk that has only what was written to it when the build ended.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { copyFileSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ApplicationHost } from "../../../tests/support/applications/host.ts";
import { freshDataDir, until } from "../../../tests/support/pilvi/pilvi.ts";
import { readIfPresent } from "../../lib/files.ts";
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
  for (const folder of [dataDir, later]) Bun.spawnSync(["umount", folder]);
  await host.close();
  for (const folder of [later, disks]) rmSync(folder, { recursive: true, force: true });
});

test("a build whose end is kept has the whole release", async () => {
  const steps = [{ name: "build", command: "for i in 1 2 3; do echo built > out$i; done" }];
  const { id } = await host.build({ steps }, { "a.txt": "a" });
  const end = join(dataDir, "builds", id, "build.json.kept");
  await until("the end is kept", () => readIfPresent(end)?.includes('"succeeded"') === true);
  copyFileSync(disk, cut);
  mount(cut, later);
  const next = new ApplicationHost({}, later);
  try {
    await next.start();
    expect(next.host.builds.observe(id)).toMatchObject({ state: "succeeded" });
    expect(next.host.builds.release(id)).toMatchObject({ id });
    const texts = ["out1", "out2", "out3"].map((name) => readIfPresent(join(releaseApp(later, id), name)));
    expect(texts).toEqual(["built\n", "built\n", "built\n"]);
  } finally {
    await next.host.close();
  }
});
