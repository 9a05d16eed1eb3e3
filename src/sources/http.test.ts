// Fetches over HTTP from a server that demands a user name and a password.
import { describe, expect, test } from "bun:test";
import { chmodSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findGit } from "./git.ts";
import { Repository } from "./repository.ts";
import { demanding, serveRepository } from "./test-server.ts";
import { openRepository, refusalOf, streamed, tarOf, testFolder, TEXT } from "./test-support.ts";

const LOGIN = { username: "ada@example.com", password: "a b/ü:@%'\"$(id)" };
const BASIC = `Basic ${Buffer.from(`${LOGIN.username}:${LOGIN.password}`).toString("base64")}`;

/** A repository with one commit, and another that fetches it. */
async function repositories(folder: string): Promise<{ origin: Repository; hash: string; copy: Repository }> {
  const origin = await openRepository(join(folder, "origin"));
  const hash = await origin.commitUpload(streamed(tarOf([{ path: "a" }])), "refs/heads/main", TEXT);
  return { origin, hash, copy: await openRepository(folder) };
}

function sourceAt(url: string, login: typeof LOGIN | null = LOGIN) {
  return { url, branch: "main", deployKey: null, login, mayReachItself: true };
}

describe("a login", () => {
  test("opens a repository that demands one, and is nowhere on the disk afterwards", async () => {
    using folder = testFolder();
    const { origin, hash, copy } = await repositories(folder.path);
    await using server = serveRepository(origin, { answer: demanding(LOGIN.username, LOGIN.password) });
    expect(await copy.fetch(sourceAt(server.url))).toBe(hash);
    expect(server.seen).toContain(BASIC);
    const files = readdirSync(copy.path, { recursive: true, withFileTypes: true });
    for (const file of files.filter((each) => each.isFile())) {
      const text = await Bun.file(join(file.parentPath, file.name)).text();
      expect(text).not.toContain(encodeURIComponent(LOGIN.password));
    }
    expect(readdirSync(copy.path).filter((name) => name.startsWith("keys-"))).toEqual([]);
  });

  test("that is wrong or absent is refused with a reason", async () => {
    using folder = testFolder();
    const { origin, copy } = await repositories(folder.path);
    await using server = serveRepository(origin, { answer: demanding(LOGIN.username, "another") });
    expect(await refusalOf(copy.fetch(sourceAt(server.url)))).toBe(
      "The repository could not be fetched: 127.0.0.1 refused the user name and the password of the application. Give it a new repository_password.",
    );
    expect(await refusalOf(copy.fetch(sourceAt(server.url, null)))).toBe(
      "The repository could not be fetched: 127.0.0.1 asks for a password. Give the application the repository_username and repository_password of somebody who may read there.",
    );
    expect(await copy.branches()).toEqual([]);
  });

  test("is not sent on to where a server leads", async () => {
    using folder = testFolder();
    const { origin, copy } = await repositories(folder.path);
    const opens = demanding(LOGIN.username, LOGIN.password);
    await using other = serveRepository(origin, { answer: opens });
    await using server = serveRepository(origin, {
      answer: (request) => opens(request) ?? Response.redirect(`${other.url}/info/refs`, 302),
    });
    expect(await refusalOf(copy.fetch(sourceAt(server.url)))).toBe(
      "The repository could not be fetched: 127.0.0.1 leads to another address, which is not followed. Give the application that address.",
    );
    expect([server.seen.at(-1), other.seen]).toEqual([BASIC, []]);
  });

  test("is not sent to another machine in clear", async () => {
    using folder = testFolder();
    const { copy } = await repositories(folder.path);
    expect(await refusalOf(copy.fetch(sourceAt("http://192.0.2.1/x.git")))).toBe(
      "A password is not sent to another machine in clear. Use an https:// address.",
    );
  });

  test("is cut out of what a server says", async () => {
    using folder = testFolder();
    const { origin, copy } = await repositories(folder.path);
    const opens = demanding(LOGIN.username, LOGIN.password);
    await using server = serveRepository(origin, {
      answer: (request) =>
        opens(request) ??
        new Response(`${LOGIN.password} ${BASIC}`, {
          status: 500,
          headers: { "content-type": "text/plain; charset=utf-8" },
        }),
    });
    const error: unknown = await copy.fetch(sourceAt(server.url)).catch((fault: unknown) => fault);
    const { message, cause } = error as Error;
    const said = `${message} ${String(cause)}`;
    expect(said).toContain("remote: [secret] Basic [secret]");
    for (const secret of [LOGIN.password, BASIC]) expect(said).not.toContain(secret);
  });
});

/** Stands for git: notes what it was called with, and fails. */
const PROGRAM = `#!/bin/sh
here=$(dirname "$0")
if [ "$1" != fetch ]; then exec ${findGit().path} "$@"; fi
printf '%s\\n' "$@" > "$here/called"
env >> "$here/called"
stat -c %a keys-* keys-*/* > "$here/modes"
cat keys-*/* > "$here/login"
echo "fatal: no luck" >&2
exit 128
`;

test("a password is in a file of its owner alone, in no argument and no variable", async () => {
  using folder = testFolder();
  const path = join(folder.path, "git");
  writeFileSync(path, PROGRAM);
  chmodSync(path, 0o755);
  const repository = await Repository.open(join(folder.path, "it's.git"), { git: { path } });
  expect(await refusalOf(repository.fetch(sourceAt("http://127.0.0.1:1/x.git")))).toContain("no luck");
  const read = (name: string) => Bun.file(join(folder.path, name)).text();
  expect(await read("modes")).toBe("700\n600\n");
  const encoded = encodeURIComponent(LOGIN.password);
  expect(await read("login")).toBe(`http://ada%40example.com:${encoded}@127.0.0.1:1\n`);
  const called = await read("called");
  for (const text of [LOGIN.password, encoded, BASIC, "ada"]) expect(called).not.toContain(text);
});
