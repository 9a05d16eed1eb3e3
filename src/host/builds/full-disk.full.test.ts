// Builds on a disk that runs full: they end before databases on it cannot write.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { ApplicationHost } from "../../../tests/support/applications/host.ts";
import { freshDataDir } from "../../../tests/support/pilvi/pilvi.ts";
import { freePort } from "../../../tests/support/pilvi/ports.ts";
import { cacheSpec } from "../../drivers/test-support.ts";

const dataDir = freshDataDir();
let host: ApplicationHost;

beforeAll(async () => {
  const size = ["-t", "tmpfs", "-o", "size=128m,mode=755", "tmpfs"];
  expect(Bun.spawnSync(["mount", ...size, dataDir]).exitCode).toBe(0);
  host = new ApplicationHost({}, dataDir);
  await host.start();
});

afterAll(async () => {
  for (const id of host.host.ids()) await host.host.remove(id);
  await host.host.close();
  Bun.spawnSync(["umount", dataDir]);
  await host.close();
});

test("a build ends when little of the disk is left, and what it took is free again", async () => {
  const cache = cacheSpec(freePort(), "a password");
  expect(await host.host.ensure(cache)).toMatchObject({ state: "running" });
  const command = "i=0; while dd if=/dev/zero of=f$i bs=64k count=1 status=none; do i=$((i+1)); done";
  const steps = [{ name: "fill", command: `${command}; sleep 30` }];
  const build = await host.build({ steps, diskBytes: 512 * 1024 ** 2 }, { "a.txt": "a" });
  expect(build.failure).toEqual({
    code: "disk",
    message:
      "The disk of the machine is nearly full, so the build was ended. Begin it again when there is room.",
  });
  expect(host.host.observe(cache.id)).toMatchObject({ state: "running", crashes: 0 });
  expect(await host.build({}, { "a.txt": "a" })).toMatchObject({ state: "succeeded" });
});

test("a build ends when few files more fit on the disk, so that others can still make theirs", async () => {
  expect(Bun.spawnSync(["mount", "-o", "remount,nr_inodes=4000", dataDir]).exitCode).toBe(0);
  const command = "i=0; while [ $(stat -f -c %d .) -gt 150 ]; do : > e$i; i=$((i+1)); done; sleep 30";
  const steps = [{ name: "fill", command }];
  const build = await host.build({ steps, diskBytes: 512 * 1024 ** 2 }, { "a.txt": "a" });
  expect(build.failure).toEqual({ code: "disk", message: expect.stringContaining("nearly full") });
  expect(await host.build({}, { "a.txt": "a" })).toMatchObject({ state: "succeeded" });
});
