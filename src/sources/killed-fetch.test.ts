// A fetch that was killed, and what it leaves to the fetches after it.
import { expect, test } from "bun:test";
import { chmodSync, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../tests/support/pilvi/pilvi.ts";
import { Repository } from "./repository.ts";
import { serveRepository } from "./test-server.ts";
import { openRepository, refusalOf, streamed, tarOf, testFolder, TEXT } from "./test-support.ts";

const MAIN = "refs/heads/main";

/** The locks of a fetch into that branch. */
const LOCKS = ["HEAD.lock", "shallow.lock", `${MAIN}.lock`];

/** A git that makes files instead of a fetch, and waits for a child of its own. */
function stallingGit(files: readonly string[]): string {
  return [
    "#!/bin/sh",
    `[ "$1" = fetch ] || exec /usr/bin/git "$@"`,
    ...files.map((file) => `: > ${file}`),
    "sleep 1000 & wait",
  ].join("\n");
}

/** The locks and the halves of packs in a repository. */
function leftIn({ path }: Repository): string[] {
  const names = readdirSync(path, { recursive: true }).map(String);
  return names.filter((name) => /\.lock$|tmp_/.test(name));
}

/** A repository behind HTTP, and another repository that fetches from it. */
async function fetching(folder: string) {
  const origin = await openRepository(join(folder, "origin"));
  const hash = await origin.commitUpload(streamed(tarOf([{ path: "a.txt", content: "a" }])), MAIN, TEXT);
  const server = serveRepository(origin);
  const repository = await openRepository(folder);
  const source = { url: server.url, branch: "main", deployKey: null, mayReachItself: true };
  return { hash, server, repository, source };
}

test("a fetch goes on where a killed one has left its locks and a half of its pack", async () => {
  using folder = testFolder();
  const { hash, server, repository, source } = await fetching(folder.path);
  await using _ = server;
  for (const name of [...LOCKS, "objects/pack/tmp_pack_x"]) await Bun.write(join(repository.path, name), "");
  expect(await repository.fetch(source)).toBe(hash);
  expect(leftIn(repository)).toEqual([]);
});

test("a fetch that is aborted ends with all that git started, and leaves no locks", async () => {
  using folder = testFolder();
  const { hash, server, repository, source } = await fetching(folder.path);
  await using _ = server;
  const path = join(folder.path, "git");
  const begun = join(folder.path, "begun");
  await Bun.write(path, stallingGit([...LOCKS, begun]));
  chmodSync(path, 0o755);
  const stalling = await Repository.open(repository.path, { git: { path } });
  const ending = new AbortController();
  const fetched = refusalOf(stalling.fetch(source, ending.signal));
  await until("git waits for its child", () => existsSync(begun));
  ending.abort();
  expect(await fetched).toBe("The repository could not be fetched: it was cancelled.");
  expect(leftIn(repository)).toEqual([]);
  expect(await repository.fetch(source)).toBe(hash);
});

test("a fetch that is aborted while another one runs does not wait for it", async () => {
  using folder = testFolder();
  const { hash, server, repository, source } = await fetching(folder.path);
  await using _ = server;
  const asked = Promise.withResolvers<void>();
  await using silent = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    fetch: () => {
      asked.resolve();
      return new Promise<Response>(() => {});
    },
  });
  const [first, second] = [new AbortController(), new AbortController()];
  const url = `http://127.0.0.1:${silent.port}/app.git`;
  const running = refusalOf(repository.fetch({ ...source, url }, first.signal));
  await asked.promise;
  const waiting = refusalOf(repository.fetch(source, second.signal));
  second.abort();
  expect(await waiting).toBe("The repository could not be fetched: it was cancelled.");
  first.abort();
  expect(await running).toBe("The repository could not be fetched: it was cancelled.");
  expect(await repository.fetch(source)).toBe(hash);
});
