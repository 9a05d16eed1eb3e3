// The repositories of all applications: their bound, their removal, and sources that are not kept.
import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { SOURCE_LIMITS } from "./bounds.ts";
import { SourceTooLarge } from "./faults.ts";
import { Repositories } from "./repositories.ts";
import { serveRepository } from "./test-server.ts";
import { git, openRepository, refusalOf, streamed, tarOf, testFolder, TEXT, tryGit } from "./test-support.ts";

const MAIN = "refs/heads/main";

function archive(): ReadableStream<Uint8Array> {
  return streamed(tarOf([{ path: "random", content: crypto.getRandomValues(new Uint8Array(50_000)) }]));
}

describe("a repository with a bound", () => {
  const limits = { ...SOURCE_LIMITS, repositoryBytes: 100_000 };

  test("takes no upload beyond it, and says what helps", async () => {
    using folder = testFolder();
    const repository = await openRepository(folder.path, limits);
    for (let upload = 0; upload < 3; upload += 1) {
      if ((await repository.roomBytes()) > 0) await repository.commitUpload(archive(), MAIN, TEXT);
    }
    const refused = repository.commitUpload(archive(), MAIN, TEXT);
    expect(await refusalOf(refused)).toContain("git push --delete");
    expect(await refused.catch((error: unknown) => error)).toBeInstanceOf(SourceTooLarge);
  });

  test("takes no push beyond it, but the deletion of a branch", async () => {
    using folder = testFolder();
    const repository = await openRepository(folder.path, limits);
    await repository.commitUpload(archive(), "refs/heads/old", TEXT);
    await using server = serveRepository(repository, { roomBytes: 0 });
    const work = join(folder.path, "work");
    mkdirSync(work);
    await git(work, "init", "--quiet", "--initial-branch=main");
    await git(work, "commit", "--quiet", "--allow-empty", "-m", "first");
    const pushed = await tryGit(work, "push", server.url, "main");
    expect(pushed.code).not.toBe(0);
    expect(await repository.branches()).toHaveLength(1);
    await git(work, "push", "--quiet", server.url, "--delete", "old");
    expect(await repository.branches()).toEqual([]);
  });
});

describe("the removal of a repository", () => {
  test("waits for an upload that runs, and those that wait are refused", async () => {
    using folder = testFolder();
    const repositories = new Repositories(folder.path);
    const repository = await repositories.of("app-1");
    const first = repository.commitUpload(archive(), MAIN, TEXT);
    const removed = repository.remove();
    const second = repository.commitUpload(archive(), MAIN, TEXT);
    expect(await first).toMatch(/^[0-9a-f]{40}$/);
    expect(await refusalOf(second)).toBe("The repository was deleted with its application.");
    await removed;
    await repositories.remove("app-1");
    expect(readdirSync(folder.path)).toEqual([]);
  });

  test("may be repeated, and needs no repository", async () => {
    using folder = testFolder();
    const repositories = new Repositories(folder.path);
    await repositories.of("app-1");
    await new Repositories(folder.path).remove("app-1");
    await repositories.remove("app-1");
    await repositories.remove("app-1");
    expect(readdirSync(folder.path)).toEqual([]);
  });
});

describe("a source that is not kept", () => {
  test("is gone after its task, also when it fails, and what a killed process left goes first", async () => {
    using folder = testFolder();
    mkdirSync(join(folder.path, "scratch-killed"));
    const repositories = new Repositories(folder.path);
    const hash = await repositories.withScratch(async (repository) => {
      expect(readdirSync(folder.path)).toHaveLength(1);
      return await repository.commitUpload(archive(), MAIN, TEXT);
    });
    expect(hash).toMatch(/^[0-9a-f]{40}$/);
    const failed = repositories.withScratch(() => Promise.reject(new Error("no plan")));
    await expect(failed).rejects.toThrow("no plan");
    expect(readdirSync(folder.path)).toEqual([]);
  });
});
