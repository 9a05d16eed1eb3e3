// Pushes and clones of git's own client, and pushes of hostile clients.
import { describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SOURCE_LIMITS } from "./bounds.ts";
import type { PushedBranch } from "./push-reports.ts";
import { serveRepository } from "./test-server.ts";
import { git, openRepository, refusalOf, streamed, tarOf, testFolder, TEXT, tryGit } from "./test-support.ts";

/** A developer's folder with one commit. */
async function developer(
  folder: string,
  files: Record<string, string> = { "index.html": "one" },
): Promise<string> {
  const path = join(folder, "work");
  mkdirSync(path, { recursive: true });
  await git(path, "init", "--quiet", "--initial-branch=main");
  for (const [name, content] of Object.entries(files)) await Bun.write(join(path, name), content);
  await commit(path, "first");
  return path;
}

async function commit(path: string, message: string): Promise<string> {
  await git(path, "add", "--all");
  await git(path, "commit", "--quiet", "--allow-empty", "-m", message);
  return (await git(path, "rev-parse", "HEAD")).trim();
}

async function* texts(...all: string[]): AsyncGenerator<string> {
  yield* all;
  await Promise.resolve();
}

describe("a push", () => {
  test("changes the branch, names it, and shows the texts to the person that pushes", async () => {
    using folder = testFolder();
    const repository = await openRepository(folder.path);
    const pushed: PushedBranch[][] = [];
    await using server = serveRepository(repository, {
      onPush: (branches) => {
        pushed.push(branches);
        return Promise.resolve(texts("Building abc\n", "", `${"x".repeat(70_000)}\nDeployed\n`));
      },
    });
    const work = await developer(folder.path);
    const first = (await git(work, "rev-parse", "HEAD")).trim();
    const { code, stderr } = await tryGit(work, "push", server.url, "main");
    expect(code).toBe(0);
    expect(stderr).toContain("remote: Building abc");
    expect(stderr).toContain("remote: Deployed");
    await Bun.write(join(work, "index.html"), "two");
    const second = await commit(work, "second");
    expect((await tryGit(work, "push", server.url, "main")).code).toBe(0);
    expect(pushed).toEqual([
      [{ name: "main", hash: first, before: null }],
      [{ name: "main", hash: second, before: first }],
    ]);
    expect(await repository.branches()).toEqual([{ name: "main", hash: second }]);
    expect(await repository.commitOn("main", first.slice(0, 8))).toBe(first);
    expect(await repository.commitOn("other", first)).toBeNull();
    expect((await repository.facts(second)).message).toBe("second");
  });

  test("makes a branch anew with the tip that it had before its deletion, and reports it", async () => {
    using folder = testFolder();
    const repository = await openRepository(folder.path);
    const pushed: string[] = [];
    await using server = serveRepository(repository, {
      onPush: (branches) => {
        pushed.push(...branches.map(({ name }) => name));
        return Promise.resolve(texts());
      },
    });
    const work = await developer(folder.path);
    for (const refspec of ["main:side", ":side", "main:side"])
      expect(await tryGit(work, "push", server.url, refspec)).toMatchObject({ code: 0 });
    expect(pushed).toEqual(["side", "side"]);
  });

  test("that breaks off in the middle of its pack leaves nothing", async () => {
    using folder = testFolder();
    const repository = await openRepository(folder.path);
    await using server = serveRepository(repository);
    const command = `${"0".repeat(40)} ${"1".repeat(40)} refs/heads/main\0report-status`;
    const line = `${(command.length + 4).toString(16).padStart(4, "0")}${command}0000`;
    // Its head, and the first byte of an object, which git gets only when more has come.
    const pack = Buffer.concat([Buffer.from("PACK"), Buffer.from([0, 0, 0, 2, 0, 1, 0, 0, 0x95])]);
    const client = new AbortController();
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(new Uint8Array(Buffer.concat([Buffer.from(line), pack]))),
    });
    const headers = { "content-type": "application/x-git-receive-pack-request" };
    const { signal } = client;
    const sent = fetch(`${server.url}/git-receive-pack`, { method: "POST", body, headers, signal });
    const answered = sent.then((response) => response.text()).catch(() => "");
    const incoming = () =>
      readdirSync(join(repository.path, "objects")).filter((name) => name.includes("incoming"));
    while (incoming().length === 0) await Bun.sleep(5);
    client.abort();
    await answered;
    while (incoming().length > 0) await Bun.sleep(5);
    expect(await repository.branches()).toEqual([]);
  });

  test("of nothing new calls nobody", async () => {
    using folder = testFolder();
    const repository = await openRepository(folder.path);
    let calls = 0;
    await using server = serveRepository(repository, {
      onPush: () => {
        calls += 1;
        return Promise.resolve(texts("x\n"));
      },
    });
    const work = await developer(folder.path);
    await git(work, "push", server.url, "main");
    await git(work, "push", server.url, "main");
    expect(calls).toBe(1);
  });

  test("by a caller without the right is refused, and a clone is not", async () => {
    using folder = testFolder();
    const repository = await openRepository(folder.path);
    await repository.commitUpload(streamed(tarOf([{ path: "a", content: "1" }])), "refs/heads/main", TEXT);
    await using server = serveRepository(repository, { mayPush: false });
    const work = await developer(folder.path);
    expect((await tryGit(work, "push", server.url, "main:other")).code).not.toBe(0);
    await git(folder.path, "clone", "--quiet", server.url, "copy");
    expect(existsSync(join(folder.path, "copy", "a"))).toBe(true);
    expect((await repository.branches()).map(({ name }) => name)).toEqual(["main"]);
  });

  test("by a caller who may not go on before its end changes nothing", async () => {
    using folder = testFolder();
    const repository = await openRepository(folder.path);
    let [mayGoOn, calls] = [false, 0];
    await using server = serveRepository(repository, {
      mayGoOn: () => Promise.resolve(mayGoOn),
      onPush: () => {
        calls += 1;
        return Promise.resolve(texts("x\n"));
      },
    });
    const work = await developer(folder.path);
    const { code, stderr } = await tryGit(work, "push", server.url, "main");
    expect(code).not.toBe(0);
    expect(stderr).toContain("remote: This token may not push.");
    mayGoOn = true;
    await git(work, "push", server.url, "main");
    mayGoOn = false;
    expect((await tryGit(work, "push", "--delete", server.url, "main")).code).not.toBe(0);
    expect((await repository.branches()).map(({ name }) => name)).toEqual(["main"]);
    expect(calls).toBe(1);
  });

  test("neither sees nor changes the branches of Pilvi's own", async () => {
    using folder = testFolder();
    const repository = await openRepository(folder.path);
    const ref = "refs/pilvi/uploads/env-1";
    const hash = await repository.commitUpload(streamed(tarOf([{ path: "a" }])), ref, TEXT);
    await using server = serveRepository(repository);
    const work = await developer(folder.path);
    expect(await git(work, "ls-remote", server.url)).not.toContain("pilvi");
    expect((await tryGit(work, "push", "--force", server.url, `main:${ref}`)).stderr).toContain("hidden ref");
    expect(await repository.resolve(ref)).toBe(hash);
  });

  test("with a file in git's own folder is refused by the check of objects", async () => {
    using folder = testFolder();
    const repository = await openRepository(folder.path);
    await using server = serveRepository(repository);
    const work = await developer(folder.path);
    const blob = (await git(work, "rev-parse", "HEAD:index.html")).trim();
    const inner = await treeOf(work, `100644 blob ${blob}\tconfig\n`);
    const tree = await treeOf(work, `040000 tree ${inner}\t.git\n`);
    const hash = (await git(work, "commit-tree", "-m", "evil", tree)).trim();
    const { code, stderr } = await tryGit(work, "push", server.url, `${hash}:refs/heads/main`);
    expect(code).not.toBe(0);
    expect(stderr).toContain("hasDotgit");
    expect(await repository.branches()).toEqual([]);
  });

  test("larger than allowed is refused, and nothing of it is kept", async () => {
    using folder = testFolder();
    const repository = await openRepository(folder.path, { ...SOURCE_LIMITS, transferBytes: 100_000 });
    await using server = serveRepository(repository);
    const work = await developer(folder.path);
    for (const name of ["a", "b", "c", "d"]) {
      await Bun.write(join(work, name), crypto.getRandomValues(new Uint8Array(60_000)));
    }
    await commit(work, "large");
    const { code, stderr } = await tryGit(work, "push", server.url, "main");
    expect(code).not.toBe(0);
    expect(stderr).toContain("exceeds maximum allowed size");
    expect(await repository.branches()).toEqual([]);
  });

  test("of bytes that are no pack is refused", async () => {
    using folder = testFolder();
    const repository = await openRepository(folder.path);
    await using server = serveRepository(repository);
    const command = `${"0".repeat(40)} ${"1".repeat(40)} refs/heads/main\0 report-status`;
    const line = (command.length + 4).toString(16).padStart(4, "0") + command;
    for (const pack of [
      "",
      "PACK\0\0\0\x02\xff\xff\xff\xff",
      "PACK\0\0\0\x02\0\0\0\x01\x9f\xff\xff\xff\xff\xff\x7fx",
    ]) {
      const response = await fetch(`${server.url}/git-receive-pack`, {
        method: "POST",
        headers: { "content-type": "application/x-git-receive-pack-request" },
        body: Buffer.concat([Buffer.from(`${line}0000`), Buffer.from(pack, "latin1")]),
      });
      expect(await response.text()).not.toContain("unpack ok");
    }
    expect(await repository.branches()).toEqual([]);
    expect(await refusalOf(repository.files("1".repeat(40)))).toContain("could not be listed");
  });

  test("runs no hook, not even of the repository itself", async () => {
    using folder = testFolder();
    const repository = await openRepository(folder.path);
    const hooks = join(repository.path, "hooks");
    mkdirSync(hooks);
    for (const name of ["pre-receive", "update", "post-receive", "post-update", "reference-transaction"]) {
      writeFileSync(join(hooks, name), `#!/bin/sh\ntouch ${folder.path}/ran\n`);
      chmodSync(join(hooks, name), 0o755);
    }
    await using server = serveRepository(repository);
    await git(await developer(folder.path), "push", server.url, "main");
    expect(existsSync(join(folder.path, "ran"))).toBe(false);
  });

  test("with a link out of the source becomes no plan and no release", async () => {
    using folder = testFolder();
    const repository = await openRepository(folder.path);
    await using server = serveRepository(repository);
    const work = await developer(folder.path);
    await git(work, "config", "core.symlinks", "true");
    Bun.spawnSync(["ln", "-s", "../../etc/passwd", join(work, "x")]);
    const hash = await commit(work, "link");
    await git(work, "push", server.url, "main");
    expect(await refusalOf(repository.files(hash))).toBe(
      "x is a link to ../../etc/passwd, which leads out of the source.",
    );
  });
});

describe("requests that no client of git makes", () => {
  test.each([
    ["GET", "/config"],
    ["GET", "/objects/info/packs"],
    ["GET", "/info/refs"],
    ["GET", "/info/refs?service=git-upload-archive"],
    ["POST", "/git-upload-archive"],
    ["POST", "/../other.git/git-upload-pack"],
    ["GET", "/git-upload-pack"],
    ["DELETE", "/info/refs?service=git-upload-pack"],
  ])("%s %s is answered with 404", async (method, path) => {
    using folder = testFolder();
    await using server = serveRepository(await openRepository(folder.path));
    const response = await fetch(server.url + path, { method });
    expect(response.status).toBe(404);
    await response.text();
  });
});

async function treeOf(work: string, text: string): Promise<string> {
  const child = Bun.spawn(["git", "mktree"], { cwd: work, stdin: Buffer.from(text), stdout: "pipe" });
  return (await child.stdout.text()).trim();
}
