// The programs of a runtime where the sandbox has no places of its own: names in a folder of the machine.
import { expect, test } from "bun:test";
import { mkdtempSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readyRuntime } from "./runtimes.ts";

test("Pilvis that share their engines have the names of their own Bun each", async () => {
  const enginesDir = mkdtempSync(join(tmpdir(), "pilvi-runtimes-"));
  const sandbox = { level: "landlock", abi: 3, isUserShared: false, env: {} } as const;
  const folderOf = async (bun: string) => {
    const { path } = await readyRuntime({ name: "bun" }, "run", { enginesDir, bun }, sandbox);
    return path.slice(0, path.indexOf(":"));
  };
  const first = await folderOf("/one/bun");
  const second = await folderOf("/two/bun");
  expect(readlinkSync(join(first, "bun"))).toBe("/one/bun");
  expect(readlinkSync(join(second, "node"))).toBe("/two/bun");
  rmSync(enginesDir, { recursive: true });
});

test("names that a killed process has left half made are made anew", async () => {
  const enginesDir = mkdtempSync(join(tmpdir(), "pilvi-runtimes-"));
  const sandbox = { level: "none", env: {} } as const;
  const ready = () => readyRuntime({ name: "bun" }, "run", { enginesDir, bun: "/one/bun" }, sandbox);
  const { path } = await ready();
  const folder = path.slice(0, path.indexOf(":"));
  writeFileSync(join(folder, `.bunx.${process.pid}.tmp`), "");
  expect((await ready()).path).toBe(path);
  rmSync(enginesDir, { recursive: true });
});
