// Files of an instance that its own application has a lease on, as it can where an ordinary user runs the host: the kernel
// has everybody else wait for the file for 45 s, and the host must not.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readUnleased } from "../../lib/leases.ts";
import { latestStart, readTail } from "../engine/log-follower.ts";
import { LogsOnDisk } from "../logs/environments/test-support.ts";
import { readLog } from "../logs/read-log.ts";
import { readLogLine } from "../../engines/application/log-line.ts";
import { boundLog, KEPT_BYTES, openLog } from "./engine-log.ts";
import { isLocked, takeLock } from "./locks.ts";

/** Takes a lease on its output, says so, and gives it back when its input ends. */
const HOLDER = `
$SIG{IO} = "IGNORE";
fcntl(STDOUT, 1024, 1) or die "no lease: $!";
print STDERR "leased\\n";
<STDIN>;
`;

let folder: string;
let path: string;
let holders: Bun.Subprocess<"pipe", number, "pipe">[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pilvi-leases-"));
  path = join(folder, "engine.log");
});

afterEach(async () => {
  for (const holder of holders) holder.kill("SIGKILL");
  await Promise.all(holders.map((holder) => holder.exited));
  holders = [];
  rmSync(folder, { recursive: true });
});

/** Has a process take a lease on a file, which it makes. */
async function lease(file: string): Promise<void> {
  const fd = openSync(file, "a", 0o600);
  const holder = Bun.spawn(["/usr/bin/perl", "-e", HOLDER], { stdio: ["pipe", fd, "pipe"], env: {} });
  closeSync(fd);
  holders.push(holder);
  const { value } = await holder.stderr.getReader().read();
  expect(Buffer.from(value ?? []).toString()).toBe("leased\n");
}

async function endLeases(): Promise<void> {
  for (const holder of holders) void holder.stdin.end();
  await Promise.all(holders.map((holder) => holder.exited));
}

test("the end of a log is empty meanwhile, and a question about it is answered as one about a log without news", async () => {
  closeSync(openLog(path, "test 1.0 starts").fd);
  await lease(path);
  expect(readTail(path)).toBe("");
  expect(latestStart(path)).toBe(0);
  const query = { limit: 10, cursor: "aaaaaaaaaaaa.1.2" };
  const slice = await readLog(path, readLogLine, query, new AbortController().signal);
  expect(slice).toEqual({ lines: [], next: query.cursor, isEnd: true, hasGap: false });
  expect(readUnleased(path)).toBeNull();
  expect(() => openLog(path, "test 1.0 starts")).toThrow("has a lease");
  await endLeases();
  expect(readTail(path)).toContain("test 1.0 starts");
});

test("the output of an application stays in its file while the application has a lease on that", async () => {
  const disk = new LogsOnDisk();
  try {
    disk.write("a line\n");
    await lease(disk.processes[0]?.path ?? "");
    disk.logs.turn();
    expect(await disk.messages()).toEqual([]);
    await endLeases();
    disk.logs.turn();
    expect(await disk.messages()).toEqual(["a line"]);
  } finally {
    disk.remove();
  }
});

test("a log is bounded once it can be opened", async () => {
  writeFileSync(path, Buffer.alloc(2 * KEPT_BYTES, 1));
  await lease(path);
  await boundLog(path);
  expect(statSync(path).blocks * 512).toBeGreaterThanOrEqual(2 * KEPT_BYTES);
  await endLeases();
  await boundLog(path);
  expect(statSync(path).blocks * 512).toBeLessThan(KEPT_BYTES + 64 * 1024);
});

test("a lock that its holder has a lease on is held", async () => {
  await lease(path);
  expect(takeLock(path)).toBeNull();
  expect(isLocked(path)).toBe(true);
  await endLeases();
  expect(isLocked(path)).toBe(false);
});
