// Undelivered batches outlive the process.
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import {
  appendFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createLog } from "../../lib/log.ts";
import type { Webhook } from "../../contracts/websocket-application.ts";
import { Spool } from "./spool.ts";
import { HookServer, startWebhooks, temporaryFolder, until } from "./test-support.ts";

const server = new HookServer();
const folder = temporaryFolder();
const log = createLog("realtime", "silent");
let spools = 0;

beforeAll(() => server.listen());
beforeEach(() => {
  server.received.splice(0);
  server.answers.clear();
});
afterAll(async () => {
  await server.close();
  folder.remove();
});

function newFile(): string {
  return folder.path(`spool-${(spools += 1)}`);
}

/** The webhooks of one process. */
function live(spoolFile: string, paths: string[]) {
  const made = startWebhooks({ spoolFile });
  made.webhooks.configure(
    paths.map((path): Webhook => ({
      url: server.url(path),
      eventTypes: ["cache_miss"],
      isBatched: true,
    })),
  );
  const miss = (channel: string) => {
    made.webhooks.cacheMiss(channel);
    made.clock.advance(50);
  };
  return { ...made, counters: made.webhooks.counters, miss };
}

function channelsAt(path: string): unknown[] {
  return server.at(path).flatMap(({ events }) => events.map((each) => each.channel));
}

test("the next process delivers the undelivered batches in order, before anything new", async () => {
  const file = newFile();
  server.answers.set("/a", 500);
  const first = live(file, ["/a"]);
  first.miss("one");
  await until(() => first.counters.failed === 1);
  first.miss("two");
  first.webhooks.cacheMiss("three");
  await first.webhooks.close();
  server.received.splice(0);
  server.answers.clear();
  const second = live(file, ["/a"]);
  second.miss("four");
  await until(() => second.counters.delivered === 4);
  expect(channelsAt("/a")).toEqual(["one", "two", "three", "four"]);
  await second.webhooks.close();
  expect(existsSync(file)).toBe(false);
});

test("the first attempt of a process that was killed meanwhile is repeated", async () => {
  const file = newFile();
  const hanging = Promise.withResolvers<number>();
  server.answers.set("/a", () => hanging.promise);
  const killed = live(file, ["/a"]);
  killed.miss("one");
  await server.until(1);
  const copy = newFile();
  writeFileSync(copy, readFileSync(file));
  server.answers.clear();
  const second = live(copy, ["/a"]);
  await until(() => second.counters.delivered === 1);
  expect(channelsAt("/a")).toEqual(["one", "one"]);
  hanging.resolve(200);
  await Promise.all([killed.webhooks.close(), second.webhooks.close()]);
});

test("closing waits for an answer for a second at most, and keeps an unanswered batch", async () => {
  const file = newFile();
  const hanging = Promise.withResolvers<number>();
  server.answers.set("/a", () => hanging.promise);
  const first = live(file, ["/a"]);
  first.miss("one");
  await server.until(1);
  const closed = first.webhooks.close();
  first.clock.advance(1000);
  await closed;
  hanging.resolve(200);
  server.answers.clear();
  const second = live(file, ["/a"]);
  await until(() => second.counters.delivered === 1);
  await second.webhooks.close();
});

test("the 5 minutes go on over a restart, with at least one attempt", async () => {
  const file = newFile();
  server.answers.set("/a", 500);
  const first = live(file, ["/a"]);
  first.miss("one");
  await until(() => first.counters.failed === 1 && first.clock.pendingMs.length > 0);
  await first.webhooks.close();
  const second = startWebhooks({ spoolFile: file });
  second.clock.advance(10 * 60_000);
  second.webhooks.configure([{ url: server.url("/a"), eventTypes: ["cache_miss"], isBatched: true }]);
  await until(() => second.webhooks.counters.dropped === 1);
  expect(second.webhooks.counters.failed).toBe(1);
  await second.webhooks.close();
  expect(existsSync(file)).toBe(false);
});

test("the batches of a removed webhook are dropped, even while the process runs", async () => {
  const file = newFile();
  for (const path of ["/a", "/b"]) server.answers.set(path, 500);
  const first = live(file, ["/a", "/b"]);
  first.miss("one");
  await until(() => first.counters.failed === 2);
  await first.webhooks.close();
  server.received.splice(0);
  server.answers.delete("/b");
  const second = live(file, ["/b"]);
  await until(() => second.counters.delivered === 1);
  server.answers.set("/b", 500);
  second.miss("two");
  await until(() => second.counters.failed === 1);
  second.webhooks.configure([]);
  await second.webhooks.close();
  expect(channelsAt("/a")).toEqual([]);
  expect(existsSync(file)).toBe(false);
});

test("a batch that the next process delivers or drops is not loaded once more by a process after it", async () => {
  const file = newFile();
  new Spool(file, log).add("hook", "one", 1);
  const second = new Spool(file, log);
  for (const batch of second.load()) second.remove(batch);
  expect(new Spool(file, log).load()).toEqual([]);
  // The spool goes on with an empty file.
  second.add("hook", "two", 1);
  expect(new Spool(file, log).load().map(({ body }) => body)).toEqual(["two"]);
});

test("the batches of a webhook that was removed while no process ran are dropped for good", async () => {
  const file = newFile();
  new Spool(file, log).add(server.url("/gone"), "one", 1);
  const killed = live(file, ["/a"]);
  expect(new Spool(file, log).load()).toEqual([]);
  await killed.webhooks.close();
});

test("a damaged part of the file costs no more than itself", () => {
  const file = newFile();
  const spool = new Spool(file, log);
  spool.add("hook", "one", 1);
  appendFileSync(file, '\n{"add":2,"webhook":"hook","bo');
  const third = spool.add("hook", "three", 1);
  appendFileSync(file, '\nnull\n[]\n{}\n{}{}\n{"add":"x","webhook":7}');
  spool.failing(third, 5);
  const kept = new Spool(file, log).load();
  expect(kept.map(({ body, failingSinceMs }) => [body, failingSinceMs])).toEqual([
    ["one", null],
    ["three", 5],
  ]);
});

test("a spool is empty when no batch waits, and does not grow without bounds while a batch does", () => {
  const file = newFile();
  const spool = new Spool(file, log);
  const body = "x".repeat(100_000);
  for (let count = 0; count < 5; count += 1) spool.remove(spool.add("hook", body, 1));
  expect(statSync(file).size).toBe(0);
  const kept = spool.add("hook", "kept", 1);
  for (let count = 0; count < 100; count += 1) spool.remove(spool.add("hook", body, 1));
  expect(statSync(file).size).toBeLessThan(1_200_000);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const next = new Spool(file, log);
  expect(next.load().map((each) => each.body)).toEqual(["kept"]);
  expect(next.add("hook", "new", 1).id).toBeGreaterThan(kept.id);
});

test("a spool is not written anew again and again when escapes make its text larger than its batches", () => {
  const file = newFile();
  const spool = new Spool(file, log);
  const kept = Array.from({ length: 30 }, () => spool.add("hook", "\u0000".repeat(100_000), 1));
  const { ino } = statSync(file);
  // Otherwise a later file could get the number of a deleted one.
  linkSync(file, newFile());
  for (const batch of kept.slice(0, 10)) spool.remove(batch);
  expect(statSync(file).ino).toBe(ino);
  for (const batch of kept.slice(10, 29)) spool.remove(batch);
  expect(statSync(file).ino).not.toBe(ino);
  expect(statSync(file).size).toBeLessThan(3_000_000);
});

test("webhooks work without a disk", async () => {
  const file = newFile();
  mkdirSync(file);
  const { webhooks, counters, miss } = live(file, ["/a"]);
  miss("one");
  await until(() => counters.delivered === 1);
  webhooks.configure([]);
  await webhooks.close();
});
