// Locks that killed pushes have left: the end of another push removes them, unless a git may hold them.
import { expect, test } from "bun:test";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../tests/support/pilvi/pilvi.ts";
import { findGit, GitProcess } from "./git.ts";
import { PushRecord } from "./push-records.ts";
import { reportLeftPushes } from "./push-reports.ts";
import type { Repository } from "./repository.ts";
import { serveRepository } from "./test-server.ts";
import { git, openRepository, testFolder, TEXT, tryGit } from "./test-support.ts";
import { WriteLock } from "./write-lock.ts";

const LOCKS = [
  "refs/heads/main.lock",
  "refs/heads/a/b.lock",
  "refs/tags/v1.lock",
  "HEAD.lock",
  "packed-refs.lock",
  "packed-refs.new",
];

/** A repository behind HTTP in which a killed push has left its locks, and a developer's folder. */
async function locked(folder: string) {
  const repository = await openRepository(folder);
  for (const name of LOCKS) await Bun.write(join(repository.path, name), "");
  const work = join(folder, "work");
  mkdirSync(work);
  await git(work, "init", "--quiet", "--initial-branch=main");
  await git(work, "commit", "--quiet", "--allow-empty", "-m", "first");
  return { repository, work, server: serveRepository(repository) };
}

function leftIn({ path }: Repository): string[] {
  return LOCKS.filter((name) => existsSync(join(path, name)));
}

async function reportLeft(repository: Repository): Promise<boolean> {
  return await reportLeftPushes(
    repository,
    async () => undefined,
    async () => [],
  );
}

test("a branch whose lock a killed push has left is pushed after the end of another push", async () => {
  using folder = testFolder();
  const { repository, work, server } = await locked(folder.path);
  await using _ = server;
  expect((await tryGit(work, "push", server.url, "main")).stderr).toContain("File exists");
  expect(leftIn(repository)).toEqual([]);
  for (const args of [["main"], ["main:a/b"], ["--delete", "a/b"], ["main:refs/tags/v1"]])
    expect(await tryGit(work, "push", server.url, ...args)).toMatchObject({ code: 0 });
});

test("a branch whose lock a push before a restart has left is pushed at once", async () => {
  using folder = testFolder();
  const { repository, work, server } = await locked(folder.path);
  await using _ = server;
  (await PushRecord.begin(repository.path, () => repository.branches())).leave();
  expect(await reportLeft(repository)).toBe(true);
  expect(await tryGit(work, "push", server.url, "main")).toMatchObject({ code: 0 });
});

test("locks stay while another push goes on, or a git that an earlier process has started", async () => {
  using folder = testFolder();
  const { repository, server } = await locked(folder.path);
  await using _ = server;
  const [endFirst, endSecond] = [repository.pushes.begin(), repository.pushes.begin()];
  await endFirst();
  expect(leftIn(repository)).toEqual(LOCKS);
  const record = await PushRecord.begin(repository.path, () => repository.branches());
  const options = { repository: repository.path, deadlineMs: 60_000, lock: record.fd };
  const run = new GitProcess(findGit(), ["cat-file", "--batch-check"], options);
  record.leave();
  await endSecond();
  expect(await reportLeft(repository)).toBe(false);
  expect(leftIn(repository)).toEqual(LOCKS);
  await run.child.stdin.end();
  await run.child.exited;
  expect(await reportLeft(repository)).toBe(true);
  expect(leftIn(repository)).toEqual([]);
});

test("locks stay while a fetch or the like goes on that an earlier process has started", async () => {
  using folder = testFolder();
  const { repository, server } = await locked(folder.path);
  await using _ = server;
  const run = startedEarlier(repository);
  await repository.pushes.begin()();
  expect(leftIn(repository)).toEqual(LOCKS);
  await run.child.stdin.end();
  await run.child.exited;
  await repository.pushes.begin()();
  expect(leftIn(repository)).toEqual([]);
});

/** A git with the lock of what writes, whose process has let it go. */
function startedEarlier({ path }: Repository): GitProcess {
  using lock = new WriteLock(path);
  return new GitProcess(findGit(), ["cat-file", "--batch-check"], {
    repository: path,
    deadlineMs: 60_000,
    lock: lock.fd,
  });
}

test("a push does not wait for an upload, at whose end the locks are removed", async () => {
  using folder = testFolder();
  const { repository, server } = await locked(folder.path);
  await using _ = server;
  const cancel = new AbortController();
  const begun = Promise.withResolvers<void>();
  const archive = new ReadableStream<Uint8Array>({ pull: () => begun.resolve() });
  const upload = repository.commitUpload(archive, "refs/pilvi/uploads/env-1", TEXT, {
    signal: cancel.signal,
  });
  upload.catch(() => {});
  await begun.promise;
  await repository.pushes.begin()();
  expect(leftIn(repository)).toEqual(LOCKS);
  cancel.abort();
  await until("the locks are removed", () => leftIn(repository).length === 0);
});
