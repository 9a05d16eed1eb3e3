// What the server of a foreign repository says of its branches.
import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { serveRepository } from "./test-server.ts";
import { git, openRepository, refusalOf, streamed, tarOf, testFolder, TEXT } from "./test-support.ts";

test("a server names its default branch, and says whether another is there", async () => {
  using folder = testFolder();
  const origin = await openRepository(join(folder.path, "origin"));
  await using server = serveRepository(origin);
  const repository = await openRepository(folder.path);
  const source = { url: server.url, branch: "main", deployKey: null, mayReachItself: true };
  expect(await repository.remoteBranches(source)).toEqual({ defaultBranch: null, hasBranch: false });
  await origin.commitUpload(streamed(tarOf([{ path: "a" }])), "refs/heads/release/master", TEXT);
  await git(origin.path, "symbolic-ref", "HEAD", "refs/heads/release/master");
  const named = { defaultBranch: "release/master", hasBranch: false };
  expect(await repository.remoteBranches(source)).toEqual(named);
  expect(await repository.remoteBranches({ ...source, branch: "master" })).toEqual(named);
  await origin.commitUpload(streamed(tarOf([{ path: "a" }])), "refs/heads/main", TEXT);
  expect(await repository.remoteBranches(source)).toEqual({ ...named, hasBranch: true });
  await git(origin.path, "symbolic-ref", "HEAD", "refs/heads/-x");
  expect((await repository.remoteBranches(source)).defaultBranch).toBeNull();
  expect(readdirSync(repository.path).filter((name) => name.startsWith("keys-"))).toEqual([]);
  const away = { ...source, url: "http://127.0.0.1:1/x.git" };
  expect(await refusalOf(repository.remoteBranches(away))).toStartWith(
    "The repository could not be fetched:",
  );
});
