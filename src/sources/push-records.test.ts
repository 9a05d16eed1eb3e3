// Pushes that were cut off between git's change of a branch and the report of it.
import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findGit, GitProcess } from "./git.ts";
import { PushRecord } from "./push-records.ts";
import { reportLeftPushes, type PushedBranch } from "./push-reports.ts";
import type { Repository } from "./repository.ts";
import { serveRepository } from "./test-server.ts";
import { newUploadRef } from "./uploads.ts";
import { git, openRepository, streamed, tarOf, testFolder, TEXT, tryGit } from "./test-support.ts";

/** A developer's folder with one commit on `main`, and its hash. */
async function developer(folder: string): Promise<{ work: string; hash: string }> {
  const work = join(folder, "work");
  mkdirSync(work);
  await git(work, "init", "--quiet", "--initial-branch=main");
  await git(work, "commit", "--quiet", "--allow-empty", "-m", "first");
  return { work, hash: (await git(work, "rev-parse", "HEAD")).trim() };
}

/** What is reported of left pushes, and whether none may be left. */
async function leftIn(repository: Repository): Promise<[branches: PushedBranch[], isDone: boolean]> {
  const reported: PushedBranch[] = [];
  const report = async (branches: PushedBranch[]) => void reported.push(...branches);
  const isDone = await reportLeftPushes(repository, report, async () => ["zebra"]);
  return [reported, isDone];
}

/** Has git change a branch as a push does, and ends before that is reported. */
async function cutOff(repository: Repository, work: string, branch: string): Promise<void> {
  const record = await PushRecord.begin(repository.path, () => repository.branches());
  await git(work, "push", "--quiet", repository.path, branch);
  record.leave();
}

test("a push that was cut off is reported once, by the next process too", async () => {
  using folder = testFolder();
  const { work, hash } = await developer(folder.path);
  await cutOff(await openRepository(folder.path), work, "main");
  const next = await openRepository(folder.path);
  expect(await leftIn(next)).toEqual([[{ name: "main", hash, before: null }], true]);
  expect(await leftIn(next)).toEqual([[], true]);
});

test("a followed branch is reported behind 1,000 others, in a push that was cut off too", async () => {
  using folder = testFolder();
  const { work, hash } = await developer(folder.path);
  const repository = await openRepository(folder.path);
  const others = Array.from({ length: 1_000 }, (_, at) => `main:refs/heads/branch-${at}`);
  await git(work, "push", "--quiet", repository.path, ...others);
  const pushed: PushedBranch[][] = [];
  await using server = serveRepository(repository, {
    followed: async () => ["zebra", "zoo", "zebra~1", "zügig=1", "branch-1"],
    onPush: async (branches) => {
      pushed.push(branches);
      return noTexts();
    },
  });
  await git(work, "push", "--quiet", server.url, "main:zebra", "main:yak", "main:zügig=1");
  const names = ["zebra", "zügig=1"];
  expect(pushed).toEqual([names.map((name) => ({ name, hash, before: null }))]);
  await git(work, "commit", "--quiet", "--allow-empty", "-m", "second");
  const second = (await git(work, "rev-parse", "HEAD")).trim();
  const record = await PushRecord.begin(repository.path, () => repository.branches(["zebra"]));
  await git(work, "push", "--quiet", repository.path, "main:zebra");
  record.leave();
  expect(await leftIn(repository)).toEqual([[{ name: "zebra", hash: second, before: hash }], true]);
});

test("a push that was cut off is reported although the followed branches could not be read at first", async () => {
  using folder = testFolder();
  const { work, hash } = await developer(folder.path);
  await cutOff(await openRepository(folder.path), work, "main");
  const next = await openRepository(folder.path);
  const left = reportLeftPushes(
    next,
    async () => undefined,
    () => Promise.reject(new Error("the store is away")),
  );
  await expect(left).rejects.toThrow("the store is away");
  expect(await leftIn(next)).toEqual([[{ name: "main", hash, before: null }], true]);
});

test("a push whose report failed is reported again", async () => {
  using folder = testFolder();
  const { work, hash } = await developer(folder.path);
  const repository = await openRepository(folder.path);
  await using server = serveRepository(repository, {
    onPush: () => Promise.reject(new Error("the store is away")),
  });
  await tryGit(work, "push", server.url, "main");
  expect(await repository.branches()).toEqual([{ name: "main", hash }]);
  expect(await leftIn(repository)).toEqual([[{ name: "main", hash, before: null }], true]);
});

test("a push whose report asks for another is reported again", async () => {
  using folder = testFolder();
  const { work, hash } = await developer(folder.path);
  const repository = await openRepository(folder.path);
  await using server = serveRepository(repository, {
    onPush: (_branches, again) => {
      again();
      return Promise.resolve(noTexts());
    },
  });
  await git(work, "push", "--quiet", server.url, "main");
  expect(await leftIn(repository)).toEqual([[{ name: "main", hash, before: null }], true]);
});

test("a push that was reported, and an upload, leave nothing to report", async () => {
  using folder = testFolder();
  const { work } = await developer(folder.path);
  const repository = await openRepository(folder.path);
  await using server = serveRepository(repository);
  await git(work, "push", "--quiet", server.url, "main");
  await repository.commitUpload(streamed(tarOf([{ path: "a" }])), newUploadRef("env-1", null), TEXT);
  for (const each of [repository, await openRepository(folder.path)])
    expect(await leftIn(each)).toEqual([[], true]);
});

test("a push is left to its git as long as that runs, also when its process has ended", async () => {
  using folder = testFolder();
  const { work, hash } = await developer(folder.path);
  const repository = await openRepository(folder.path);
  const record = await PushRecord.begin(repository.path, () => repository.branches());
  const run = new GitProcess(findGit(), ["cat-file", "--batch-check"], {
    repository: repository.path,
    deadlineMs: 60_000,
    lock: record.fd,
  });
  record.leave();
  await git(work, "push", "--quiet", repository.path, "main");
  expect(await leftIn(repository)).toEqual([[], false]);
  await run.child.stdin.end();
  await run.child.exited;
  expect(await leftIn(repository)).toEqual([[{ name: "main", hash, before: null }], true]);
});

test("a note that was cut off is deleted, since its push has not begun", async () => {
  using folder = testFolder();
  const repository = await openRepository(folder.path);
  const notes = join(repository.path, "pilvi-pushes");
  mkdirSync(notes);
  for (const name of ["push-1", "push-2.new"]) writeFileSync(join(notes, name), '{"version":1,"bef');
  expect(await leftIn(repository)).toEqual([[], true]);
  expect(await PushRecord.names(repository.path)).toEqual([]);
});

// oxlint-disable-next-line require-yield -- there is nothing to say to the person that pushes
async function* noTexts(): AsyncGenerator<string> {
  await Promise.resolve();
}
