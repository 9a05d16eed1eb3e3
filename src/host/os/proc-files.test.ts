// The kernel's files about processes: a process that has ended has no text, and every other error is passed on.
import { expect, test } from "bun:test";
import { childrenOf, textOf } from "./proc-files.ts";
import { usageOfTree } from "./process-usage.ts";

test("a process that has ended has no text, no children and no usage", async () => {
  const child = Bun.spawn(["true"]);
  await child.exited;
  expect(textOf(`/proc/${child.pid}/stat`)).toBe("");
  expect(childrenOf(child.pid)).toEqual([]);
  expect(usageOfTree(child.pid)).toBeNull();
});

test("a running process has its text and its children", () => {
  const child = Bun.spawn(["sleep", "60"]);
  expect(textOf(`/proc/${child.pid}/stat`)).toStartWith(`${child.pid} (`);
  expect(childrenOf(process.pid)).toContain(child.pid);
  child.kill();
});

test("a file that cannot be read for another reason is an error", () => {
  expect(() => textOf("/proc/self")).toThrow("EISDIR");
});
