// Requests whose lists have no end: git gets no more of them than it can keep in little memory.
import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { findGit } from "./git.ts";
import { packetOf } from "./packets.ts";
import { Repository } from "./repository.ts";
import { MAX_COMMAND_BYTES, MAX_QUESTION_BYTES } from "./request-body.ts";
import { serveRepository } from "./test-server.ts";
import { git, openRepository, testFolder } from "./test-support.ts";

const NONE = "0".repeat(40);

const TOO_MANY_BRANCHES =
  "The push changes too many branches at once: their list has more than 4 MiB. Send them in several parts.";

/** A repository whose git keeps what it gets of requests in a file instead of serving them. */
async function keepingGit(folder: string): Promise<{ repository: Repository; keptBytes(): number }> {
  const [path, kept] = [join(folder, "git"), join(folder, "kept")];
  const lines = [
    "#!/bin/sh",
    `[ "$1" = http-backend ] || exec ${findGit().path} "$@"`,
    "printf 'Content-Type: text/plain\\r\\n\\r\\n'",
    `cat > ${kept}`,
  ];
  await Bun.write(path, lines.join("\n"));
  chmodSync(path, 0o755);
  const { path: at } = await openRepository(folder);
  const repository = await Repository.open(at, { git: { path } });
  return { repository, keptBytes: () => statSync(kept).size };
}

/** The answer to a body that comes in parts and has no end. */
async function answerTo(url: string, service: string, parts: Uint8Array<ArrayBuffer>[]): Promise<string> {
  const body = new ReadableStream({
    start: (controller) => parts.forEach((part) => controller.enqueue(part)),
  });
  const headers = { "content-type": `application/x-${service}-request`, "content-encoding": "gzip" };
  const response = await fetch(`${url}/${service}`, { method: "POST", body, headers });
  return await response.text();
}

function zipped(packet: Buffer, bytes: number): Uint8Array<ArrayBuffer> {
  const packets = Array.from({ length: Math.ceil(bytes / packet.length) }, () => packet);
  return Bun.gzipSync(new Uint8Array(Buffer.concat(packets)));
}

test("a push with many MiB of packed commands is refused, and git gets few of them", async () => {
  using folder = testFolder();
  const { repository, keptBytes } = await keepingGit(folder.path);
  await using server = serveRepository(repository);
  const command = packetOf(Buffer.from(`${NONE} ${"1".repeat(40)} refs/heads/${"x".repeat(60_000)}`));
  const body = zipped(command, 64 << 20);
  expect(body.length).toBeLessThan(1 << 20);
  expect(await answerTo(server.url, "git-receive-pack", [body])).toEndWith(`\u0003${TOO_MANY_BRANCHES}\n`);
  expect(keptBytes()).toBeLessThanOrEqual(MAX_COMMAND_BYTES);
});

test("a fetch with many MiB of packed questions is refused, and git gets few of them", async () => {
  using folder = testFolder();
  const { repository, keptBytes } = await keepingGit(folder.path);
  await using server = serveRepository(repository);
  const body = zipped(packetOf(Buffer.from(`have ${"1".repeat(40)}\n`)), 64 << 20);
  expect(await answerTo(server.url, "git-upload-pack", [body])).toEndWith(
    "ERR The fetch names too many commits at once: their list has more than 10 MiB. Send them in several parts.",
  );
  expect(keptBytes()).toBeLessThanOrEqual(MAX_QUESTION_BYTES);
});

test.each(["0004", "0001", "00g0"])("a push with the command %s is refused", async (packet) => {
  using folder = testFolder();
  await using server = serveRepository(await openRepository(folder.path));
  const body = zipped(Buffer.from(packet), packet.length);
  expect(await answerTo(server.url, "git-receive-pack", [body])).toEndWith("\u0003The push is malformed.\n");
});

/** A developer's folder with one commit on `main`. */
async function developer(folder: string): Promise<{ work: string; hash: string }> {
  const work = join(folder, "work");
  mkdirSync(work);
  await git(work, "init", "--quiet", "--initial-branch=main");
  await git(work, "commit", "--quiet", "--allow-empty", "-m", "first");
  return { work, hash: (await git(work, "rev-parse", "HEAD")).trim() };
}

test("a push that comes packed is taken as any other", async () => {
  using folder = testFolder();
  const repository = await openRepository(folder.path);
  await using server = serveRepository(repository);
  const { work, hash } = await developer(folder.path);
  const packing = Bun.spawn(["git", "pack-objects", "--all", "--stdout", "--quiet"], {
    cwd: work,
    stdin: "ignore",
    stdout: "pipe",
  });
  const pack = await packing.stdout.bytes();
  const command = packetOf(Buffer.from(`${NONE} ${hash} refs/heads/main\0report-status`));
  const response = await fetch(`${server.url}/git-receive-pack`, {
    method: "POST",
    headers: { "content-type": "application/x-git-receive-pack-request", "content-encoding": "gzip" },
    body: Bun.gzipSync(new Uint8Array(Buffer.concat([command, Buffer.from("0000"), pack]))),
  });
  expect(await response.text()).toContain("unpack ok");
  expect(await repository.branches()).toEqual([{ name: "main", hash }]);
});

test("a clone whose questions come packed has all branches", async () => {
  using folder = testFolder();
  const repository = await openRepository(folder.path);
  await using server = serveRepository(repository);
  const { work } = await developer(folder.path);
  for (let at = 0; at < 40; at += 1) {
    await git(work, "commit", "--quiet", "--allow-empty", "-m", `commit ${at}`);
    await git(work, "branch", `branch-${at}`);
  }
  await git(work, "push", "--quiet", server.url, "--all");
  await git(folder.path, "clone", "--quiet", "--mirror", server.url, "copy");
  const copied = (await git(join(folder.path, "copy"), "branch", "--list")).trim().split("\n");
  expect(copied).toHaveLength(41);
});
