// The processes of an instance in the journal: what a later host finds, and what ended without a host.
import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog } from "../../lib/log.ts";
import { RecordedProcess } from "../os/recorded-process.ts";
import { ProcessJournal } from "./instance-journal.ts";
import { Journal } from "./journal.ts";

const HOUR_MS = 3_600_000;

const folder = mkdtempSync(join(tmpdir(), "pilvi-journal-"));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
const newPath = () => join(folder, `journal-${(files += 1)}.jsonl`);
const open = (path: string) => new Journal(path, createLog("host", "silent"));
const typesOf = (journal: Journal) => journal.after(0).map(({ type }) => type);

const ended = (pid: number) => ({ pid, exited: Promise.resolve() });

/** Has the records of a file happen this much earlier than the clock says now. */
const moveEarlier = (path: string, ms: number) =>
  writeFileSync(
    path,
    readFileSync(path, "utf8").replaceAll(/(?<="at":")[^"]+/g, (at) =>
      new Date(Date.parse(at) - ms).toISOString(),
    ),
  );

describe("a process", () => {
  const own = { pid: process.pid, exited: new Promise<void>(() => {}) };

  test("that starts after a crash is recorded as restarted", () => {
    const journal = open(newPath());
    const life = new ProcessJournal(journal, "cache-1");
    life.started(ended(1));
    life.ended("crashed");
    life.started(ended(2));
    life.ended("stopped");
    life.ended("stopped");
    life.started(ended(3));
    expect(typesOf(journal)).toEqual(["started", "crashed", "restarted", "stopped", "started"]);
  });

  test("that the next host finds again is not recorded again", () => {
    const path = newPath();
    new ProcessJournal(open(path), "cache-1").found(own);
    const next = open(path);
    new ProcessJournal(next, "cache-1").found(own);
    expect(typesOf(next)).toEqual(["started"]);
  });

  test("that the next host finds again is not recorded again, although the clock was set meanwhile", () => {
    const [path, note] = [newPath(), new RecordedProcess(newPath())];
    new ProcessJournal(open(path), "cache-1", { note }).found(own);
    for (const ms of [HOUR_MS, -2 * HOUR_MS]) {
      moveEarlier(path, ms);
      const next = open(path);
      new ProcessJournal(next, "cache-1", { note }).found(own);
      expect(typesOf(next)).toEqual(["started"]);
    }
  });

  test("that has the number of a former process is recorded", () => {
    const [path, noteFile] = [newPath(), newPath()];
    const note = new RecordedProcess(noteFile);
    new ProcessJournal(open(path), "cache-1", { note }).found(own);
    writeFileSync(noteFile, readFileSync(noteFile, "utf8").replace(/\d+$/m, "1"));
    const next = open(path);
    new ProcessJournal(next, "cache-1", { note }).found(own);
    expect(typesOf(next)).toEqual(["started", "stopped", "started"]);
  });

  test("that an earlier release has recorded is known by its start, and otherwise runs by its latest record", () => {
    const [path, note] = [newPath(), new RecordedProcess(newPath())];
    new ProcessJournal(open(path), "cache-1").found(own);
    new ProcessJournal(open(path), "cache-1").found(own);
    moveEarlier(path, -HOUR_MS);
    for (let hosts = 0; hosts < 2; hosts++) {
      const next = open(path);
      new ProcessJournal(next, "cache-1", { note }).found(own);
      expect(typesOf(next)).toEqual(["started", "stopped", "started"]);
      const times = next.after(0).map(({ at }) => at);
      expect(times).toEqual(times.toSorted());
    }
  });

  test("that ended without a host is recorded as stopped, with the earliest possible time", () => {
    const path = newPath();
    const killed = open(path);
    new ProcessJournal(killed, "cache-1").started(own);
    killed.close();
    const next = open(path);
    new ProcessJournal(next, "cache-1").found(null);
    const [, stopped] = next.after(0);
    expect(stopped?.type).toBe("stopped");
    expect(Date.parse(stopped?.details.not_before ?? "")).toBeLessThanOrEqual(Date.parse(stopped?.at ?? ""));
    expect(next.openRun("cache-1")).toBeUndefined();
  });
});
