// The lines of the scheduler, run by a real shell whose clock and pauses are those of the test.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../../../../tests/support/pilvi/pilvi.ts";
import { commandFile } from "../../../engines/application/command-file.ts";
import { everyMinute } from "./scheduler.ts";

/** The tenth second of a minute. */
const START = 1_800_000_000 + 10;

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pilvi-scheduler-"));
  program("date", "cat clock");
  program("sleep", "echo $(($(cat clock) + $1)) > clock; echo $1 >> pauses");
  writeFileSync(join(folder, "clock"), String(START));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function program(name: string, lines: string): void {
  writeFileSync(join(folder, name), `#!/bin/sh\n${lines}\n`);
  chmodSync(join(folder, name), 0o755);
}

function linesOf(name: string): string[] {
  return readFileSync(join(folder, name), "utf8").trim().split("\n");
}

/** Runs the scheduler with a job until the job has had so many runs, and then ends its whole group. */
async function schedule(job: string, runs: number): Promise<{ printed: string; said: string; code: number }> {
  program("job", `echo $(($(cat clock) - ${START})) >> runs\n${job}`);
  // The signal comes in the middle of a run, as at the end of a release.
  program("last", `[ "$(wc -l < runs)" -lt ${runs} ] || { kill -TERM 0; echo whole >> runs; }`);
  writeFileSync(join(folder, "start"), `echo $$ > pid\n${commandFile(everyMinute("job"))}`);
  const shell = Bun.spawn(["setsid", "--wait", "sh", "start"], {
    cwd: folder,
    env: { PATH: `${folder}:${process.env["PATH"]}` },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [printed, said] = await Promise.all([shell.stdout.text(), shell.stderr.text()]);
  return { printed, said, code: await shell.exited };
}

test("a command runs at the beginning of each minute after the first, and a run is not cut off", async () => {
  expect(await schedule("last", 3)).toEqual({ printed: "", said: "", code: 0 });
  expect(linesOf("runs")).toEqual(["50", "110", "170", "whole"]);
});

test("a run that takes longer than a minute leaves minutes out", async () => {
  await schedule("echo $(($(cat clock) + 130)) > clock; last", 3);
  expect(linesOf("runs").slice(0, 3)).toEqual(["50", "230", "410"]);
});

test("a pause that ends too early has no minute run twice", async () => {
  program("sleep", "echo $(($(cat clock) + ($1 > 1 ? $1 - 1 : 1))) > clock");
  await schedule("last", 3);
  expect(linesOf("runs").slice(0, 3)).toEqual(["50", "110", "170"]);
});

test("a run that fails says so as an error, and the next minute has a run", async () => {
  const { printed } = await schedule("last; [ $(wc -l < runs) != 1 ] || exit 3", 2);
  expect(JSON.parse(printed)).toEqual({ level: "error", message: "job ended with the exit code 3." });
  expect(linesOf("runs")).toHaveLength(3);
});

test("a signal during a pause ends it at once", async () => {
  program("sleep", "echo paused >> pauses; exec /bin/sleep 995");
  const running = schedule("true", 1);
  const pauses = Bun.file(join(folder, "pauses"));
  await until("it pauses", async () => await pauses.exists());
  const shell = Number(readFileSync(join(folder, "pid"), "utf8"));
  process.kill(-shell, "SIGTERM");
  expect(await running).toEqual({ printed: "", said: "", code: 0 });
});
