// The journal of a host: records survive kills, are returned until taken, and one instance cannot crowd out others.
import { afterAll, describe, expect, test } from "bun:test";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog } from "../../lib/log.ts";
import { ProcessJournal, StateJournal } from "./instance-journal.ts";
import { Journal, MAX_WAITING } from "./journal.ts";

const folder = mkdtempSync(join(tmpdir(), "pilvi-journal-"));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
const newPath = () => join(folder, `journal-${(files += 1)}.jsonl`);
const open = (path: string) => new Journal(path, createLog("host", "silent"));
const typesOf = (journal: Journal, after = 0) => journal.after(after).map(({ type }) => type);

/** The sleep of an instance that is awake. */
const slept = (wakes: number) => ({
  state: "awake" as const,
  since: "2026-03-15T08:18:53.204Z",
  lastWake: null,
  wakes,
});

describe("a journal", () => {
  test("returns its records in order, and drops the taken ones", () => {
    const journal = open(newPath());
    journal.append("cache-1", "started", { pid: 1 });
    journal.append("cache-2", "failed", { reason: "No room." });
    const [first, second] = journal.after(0);
    expect(journal.after(first?.sequence ?? 0)).toEqual([second ?? expect.unreachable()]);
    expect(journal.after(second?.sequence ?? 0)).toEqual([]);
    expect(journal.after(0)).toEqual([]);
  });

  test("is taken up by the next host after a kill, with rising sequences", () => {
    const path = newPath();
    const killed = open(path);
    killed.append("cache-1", "started", { pid: 1 });
    killed.append("cache-1", "crashed");
    appendFileSync(path, '{"sequence":99,"id":"cache-1","at":"20');
    const next = open(path);
    expect(next.after(0)).toEqual(killed.after(0));
    next.append("cache-1", "restarted", { pid: 2 });
    const sequences = next.after(0).map(({ sequence }) => sequence);
    expect(sequences).toEqual(sequences.toSorted((a, b) => a - b));
    expect(open(path).openRun("cache-1")?.pid).toBe(2);
  });

  test("never repeats a taken sequence, although the disk has lost the latest records", () => {
    const path = newPath();
    const taken = Date.now() * 1_000 + 1_000_000_000;
    const journal = open(path);
    expect(journal.after(taken)).toEqual([]);
    journal.append("cache-1", "asleep");
    expect(journal.after(taken).map(({ type }) => type)).toEqual(["asleep"]);
  });

  test("keeps a limited number of records of each instance, and counts the rest as a gap of that instance alone", () => {
    const journal = open(newPath());
    for (let count = 0; count < MAX_WAITING + 10; count++) journal.append("cache-1", "crashed");
    journal.append("cache-2", "started", { pid: 2 });
    const records = journal.after(0);
    expect(records.filter(({ id }) => id === "cache-1")).toHaveLength(MAX_WAITING);
    expect(records.find(({ type }) => type === "gap")).toMatchObject({
      id: "cache-1",
      details: { lost: 11 },
    });
    expect(records.at(-1)).toMatchObject({ id: "cache-2", type: "started" });
    const last = records.at(-1)?.sequence ?? 0;
    journal.after(last);
    journal.append("cache-1", "asleep");
    expect(typesOf(journal, last)).toEqual(["asleep"]);
  });

  test("does not grow with taken records, and keeps the running processes", () => {
    const path = newPath();
    const journal = open(path);
    journal.append("cache-9", "started", { pid: 9 });
    for (let round = 0; round < 4_000; round++) {
      journal.append("cache-1", "failed", { reason: "x".repeat(200) });
      journal.after(journal.after(0).at(-1)?.sequence ?? 0);
    }
    expect(statSync(path).size).toBeLessThan(400_000);
    expect(open(path).openRun("cache-9")?.pid).toBe(9);
  });

  test("cuts a long reason between its characters", () => {
    const journal = open(newPath());
    journal.append("process-1", "failed", { reason: `${"x".repeat(498)}🙂 is no half` });
    journal.append("process-1", "failed", { reason: `${"x".repeat(499)}🙂 is no half` });
    const reasons = journal.after(0).map(({ details }) => details.reason ?? "");
    expect(reasons.map((reason) => [reason.isWellFormed(), reason.length])).toEqual([
      [true, 500],
      [true, 500],
    ]);
  });

  test("wakes a caller that waits for a record", async () => {
    const journal = open(newPath());
    const waiting = journal.untilSome(new AbortController().signal);
    journal.append("cache-1", "asleep");
    await waiting;
    await open(newPath()).untilSome(AbortSignal.abort());
  });

  test("does not write after it is closed, since the next host writes then", () => {
    const path = newPath();
    const journal = open(path);
    journal.close();
    const before = readFileSync(path, "utf8");
    journal.append("cache-1", "crashed");
    expect(readFileSync(path, "utf8")).toBe(before);
  });
});

describe("a state", () => {
  const seen = { id: "cache-1", since: "", engine: null, limits: null, crashes: 0, sleep: null };

  test("is recorded when the instance falls asleep, is woken, or fails for another reason", () => {
    const journal = open(newPath());
    const states = new StateJournal(journal, "cache-1");
    const wake = {
      at: "2026-03-15T08:18:53.204Z",
      reason: { user: "app", address: "127.0.0.1:5000" },
      spansMs: { accept: 1, auth: 1, start: 1, ready: 1, login: 1 },
    };
    const sleep = { state: "awake" as const, since: "", lastWake: null, wakes: 0 };
    states.observed({ ...seen, state: "running", lastError: null, sleep });
    states.observed({ ...seen, state: "asleep", lastError: null, sleep });
    for (let count = 0; count < 2; count++)
      states.observed({ ...seen, state: "running", lastError: null, sleep: { ...sleep, lastWake: wake } });
    for (let count = 0; count < 3; count++)
      states.observed({ ...seen, state: "failed", lastError: "No memory." });
    states.observed({ ...seen, state: "failed", lastError: "The disk of the host is full." });
    expect(typesOf(journal)).toEqual(["asleep", "awake", "failed", "disk_full"]);
  });

  test("is awake after it has fallen asleep, although the client came before that", () => {
    const journal = open(newPath());
    const states = new StateJournal(journal, "cache-1");
    const sleep = { state: "awake" as const, since: "", lastWake: null, wakes: 0 };
    const lastWake = {
      at: new Date(Date.now() - 100).toISOString(),
      reason: { user: "app", address: "127.0.0.1:5000" },
      spansMs: { accept: 1, auth: 1, start: 100, ready: 1, login: 1 },
    };
    states.observed({ ...seen, state: "running", lastError: null, sleep });
    states.observed({ ...seen, state: "asleep", lastError: null, sleep });
    states.observed({ ...seen, state: "running", lastError: null, sleep: { ...sleep, lastWake } });
    const byTime = journal.after(0).toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at));
    expect(byTime.map(({ type }) => type)).toEqual(["asleep", "awake"]);
  });

  test("that was reached while no host ran is recorded by the next host, once", () => {
    const path = newPath();
    const killed = open(path);
    const process = { pid: 1, exited: Promise.resolve() };
    new ProcessJournal(killed, "cache-1").started(process);
    new StateJournal(killed, "cache-1").observed({
      ...seen,
      state: "draining",
      lastError: null,
      sleep: slept(0),
    });
    for (let hosts = 0; hosts < 2; hosts++) {
      const next = open(path);
      new ProcessJournal(next, "cache-1").found(null);
      new StateJournal(next, "cache-1").observed({ ...seen, state: "asleep", lastError: null });
      expect(typesOf(next)).toEqual(["started", "stopped", "asleep"]);
    }
  });

  test("is known after the records were taken and the file was written anew", () => {
    const path = newPath();
    const killed = open(path);
    const states = new StateJournal(killed, "cache-1");
    states.observed({ ...seen, state: "running", lastError: null, sleep: slept(0) });
    states.observed({ ...seen, state: "asleep", lastError: null });
    const [last] = killed.after(0).slice(-1);
    killed.after(last?.sequence ?? 0);
    const [again, third] = [open(path), open(path)];
    for (const next of [again, third])
      new StateJournal(next, "cache-1").observed({ ...seen, state: "asleep", lastError: null });
    expect(third.after(last?.sequence ?? 0)).toEqual([]);
  });

  test("is awake after a sleep that an earlier host has recorded, although the client came before that", () => {
    const path = newPath();
    const killed = new StateJournal(open(path), "cache-1");
    killed.observed({ ...seen, state: "running", lastError: null, sleep: slept(0) });
    killed.observed({ ...seen, state: "asleep", lastError: null });
    const next = open(path);
    const states = new StateJournal(next, "cache-1");
    const since = new Date().toISOString();
    const running = { ...seen, state: "running" as const, lastError: null };
    states.observed({ ...running, sleep: { ...slept(1), since } });
    const lastWake = {
      at: "2026-03-15T08:18:53.204Z",
      reason: { user: "app", address: "127.0.0.1:5000" },
      spansMs: { accept: 1, auth: 1, start: 1, ready: 1, login: 1 },
    };
    states.observed({ ...running, sleep: { ...slept(1), since, lastWake } });
    expect(next.after(0)).toMatchObject([{ type: "asleep" }, { type: "awake", at: since }]);
  });

  test("of an instance that is gone is forgotten, although the file has records of it", () => {
    const path = newPath();
    const killed = open(path);
    killed.append("cache-1", "started", { pid: 1 });
    killed.append("cache-2", "started", { pid: 2 });
    killed.forget("cache-1");
    const next = open(path);
    next.keepOnly(["cache-2"]);
    expect([next.isAwake("cache-1"), next.isAwake("cache-2")]).toEqual([undefined, false]);
  });

  test("that nobody reported is recorded as a wake before the next sleep", () => {
    const path = newPath();
    const killed = open(path);
    const process = { pid: 1, exited: Promise.resolve() };
    const before = new StateJournal(killed, "cache-1");
    new ProcessJournal(killed, "cache-1").started(process);
    before.observed({ ...seen, state: "running", lastError: null, sleep: slept(0) });
    before.observed({ ...seen, state: "asleep", lastError: null });
    new ProcessJournal(killed, "cache-1").started(process);
    const next = open(path);
    const states = new StateJournal(next, "cache-1");
    const running = { ...seen, state: "running" as const, lastError: null };
    states.observed({ ...running, sleep: slept(1) });
    states.observed({ ...running, state: "asleep", sleep: { ...slept(1), state: "asleep" } });
    expect(typesOf(next)).toEqual(["started", "asleep", "started", "awake", "asleep"]);
    expect(next.after(0).find(({ type }) => type === "awake")?.at).toBe(slept(1).since);
  });
});
