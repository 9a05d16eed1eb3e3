// The journal of a host on a disk that takes no new file.
import { afterAll, expect, test } from "bun:test";
import {
  appendFileSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog } from "../../lib/log.ts";
import { Journal } from "./journal.ts";

const LOG = createLog("host", "silent");

const folder = mkdtempSync(join(tmpdir(), "pilvi-journal-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("a journal whose file cannot be rewritten goes on in the former, and leaves the files of others alone", () => {
  const path = join(folder, "journal.jsonl");
  const journal = new Journal(path, LOG);
  const reason = "x".repeat(400);
  for (let at = 0; at < 900; at += 1) journal.append(`cache-${at}`, "failed", { reason });
  // The file beside it, in which it is rewritten, cannot be made.
  mkdirSync(`${path}.tmp`);
  journal.after(journal.after(0).at(-1)?.sequence ?? 0);
  const [other, third] = ["other", "third"].map((name) => join(folder, name)) as [string, string];
  const fds = [openSync(other, "a"), openSync(third, "a")];
  journal.append("cache-last", "crashed");
  journal.after(journal.after(0).at(-1)?.sequence ?? 0);
  for (const fd of fds) writeSync(fd, "of another");
  expect([readFileSync(other, "utf8"), readFileSync(third, "utf8")]).toEqual(["of another", "of another"]);
  expect(readFileSync(path, "utf8")).toContain('"cache-last"');
  for (const fd of fds) closeSync(fd);
  rmdirSync(`${path}.tmp`);
  journal.append("cache-last", "restarted", { pid: 1 });
  journal.after(journal.after(0).at(-1)?.sequence ?? 0);
  expect(statSync(path).size).toBeLessThan(100_000);
  journal.close();
});

test("a host that was killed in the middle of a record begins on a full disk, and loses no later record", () => {
  const path = join(folder, "killed.jsonl");
  const killed = new Journal(path, LOG);
  killed.append("cache-1", "started", { pid: 1 });
  killed.close();
  appendFileSync(path, '{"half":');
  // The file beside it, in which it is rewritten, cannot be made.
  mkdirSync(`${path}.tmp`);
  const next = new Journal(path, LOG);
  next.append("cache-1", "crashed");
  next.close();
  const later = new Journal(path, LOG);
  expect(later.after(0).map(({ type }) => type)).toEqual(["started", "crashed"]);
  rmdirSync(`${path}.tmp`);
  later.after(later.after(0).at(-1)?.sequence ?? 0);
  expect(readFileSync(path, "utf8")).not.toContain("half");
  later.close();
});
