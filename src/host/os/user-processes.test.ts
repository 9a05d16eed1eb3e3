// Killing all processes of a user, including processes that fork again and again.
import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { until } from "../../../tests/support/pilvi/pilvi.ts";
import { freePort } from "../../../tests/support/pilvi/ports.ts";
import { IS_ROOT } from "../../../tests/support/pilvi/program.ts";
import { uidOfPort } from "./accounts.ts";
import { killProcessesOf, processesOf } from "./user-processes.ts";

/** Users without other processes: no other Pilvi of the machine has an instance at these ports. */
const [UID, OTHER_UID] = [uidOfPort(freePort()), uidOfPort(freePort())];

/** Groups of version 1 keep even a killed process until they are thawed. */
const FREEZER = "/sys/fs/cgroup/freezer";

/** The first thread ends, and another goes on: the kernel then shows the process as if it had ended. */
const HEADLESS = `
const { dlopen } = require("bun:ffi");
const { symbols } = dlopen("libc.so.6", { syscall: { args: ["i64", "i64"], returns: "i64" } });
new Worker("data:text/javascript,postMessage(0); setInterval(() => {}, 1000);").onmessage = () => {
  require("node:fs").writeSync(1, "up\\n");
  symbols.syscall(${process.arch === "x64" ? 60 : 93}n, 0n);
};`;

const started: Bun.Subprocess[] = [];

afterEach(async () => {
  for (const child of started) child.kill("SIGKILL");
  await Promise.all(started.splice(0).map((child) => child.exited));
});

/** Runs a command as a user until it has written a line. */
async function start(uid: number, command: string[]): Promise<Bun.Subprocess> {
  const child = Bun.spawn(command, { cwd: "/", uid, gid: uid, stdio: ["ignore", "pipe", "ignore"] });
  started.push(child);
  await child.stdout.getReader().read();
  return child;
}

const sleeper = (uid: number) => start(uid, ["/bin/sh", "-c", "echo up; exec sleep 600"]);

describe.skipIf(!IS_ROOT)("the processes of a user", () => {
  test("end, and those of others go on", async () => {
    const other = await sleeper(OTHER_UID);
    const child = await sleeper(UID);
    expect(processesOf(UID)).toEqual([child.pid]);
    expect(await killProcessesOf(UID)).toBe(true);
    expect(processesOf(UID)).toEqual([]);
    expect(processesOf(OTHER_UID)).toEqual([other.pid]);
    expect(await killProcessesOf(UID)).toBe(true);
  });

  test("end when they go on in ever new children", async () => {
    await start(UID, ["/usr/bin/perl", "-e", "$| = 1; print qq(up\n); for (;;) { exit if fork }"]);
    expect(await killProcessesOf(UID)).toBe(true);
    expect(processesOf(UID)).toEqual([]);
  });

  test("end when they look as if they had", async () => {
    const child = await start(UID, [process.execPath, "-e", HEADLESS]);
    await until("its first thread has ended", async () =>
      (await Bun.file(`/proc/${child.pid}/status`).text()).includes("zombie"),
    );
    expect(processesOf(UID)).toEqual([child.pid]);
    expect(await killProcessesOf(UID)).toBe(true);
    expect(processesOf(UID)).toEqual([]);
  });

  test("are not left alone by a user that is not a customer's", async () => {
    for (const uid of [0, 1_000, 30_000]) expect(killProcessesOf(uid)).rejects.toThrow("no customer's");
  });

  test.skipIf(!existsSync(FREEZER))("are reported when they cannot be ended in time", async () => {
    const child = await sleeper(UID);
    const group = `${FREEZER}/pilvi-test-${process.pid}`;
    mkdirSync(group);
    try {
      writeFileSync(`${group}/cgroup.procs`, String(child.pid));
      writeFileSync(`${group}/freezer.state`, "FROZEN");
      expect(await killProcessesOf(UID, 0)).toBe(false);
      expect(processesOf(UID)).toEqual([child.pid]);
      writeFileSync(`${group}/freezer.state`, "THAWED");
      expect(await killProcessesOf(UID)).toBe(true);
    } finally {
      writeFileSync(`${group}/freezer.state`, "THAWED");
      child.kill("SIGKILL");
      await child.exited;
      rmdirSync(group);
    }
  });
});
