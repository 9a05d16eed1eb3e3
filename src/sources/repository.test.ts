// Reads commits for plans and builds, and fetches from foreign repositories.
import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { repositoryAddress } from "./address.ts";
import { SOURCE_LIMITS } from "./bounds.ts";
import type { Repository } from "./repository.ts";
import { serveRepository } from "./test-server.ts";
import {
  git,
  openRepository,
  refusalOf,
  streamed,
  tarOf,
  type TestEntry,
  testFolder,
  TEXT,
} from "./test-support.ts";

const MAIN = "refs/heads/main";
const ENTRIES: TestEntry[] = [
  { path: "package.json", content: '{"scripts":{"start":"node server.js"}}' },
  { path: "server.js", content: "" },
  { path: ".gitattributes", content: "server.js export-ignore\n* ident\n" },
  { path: "link", type: "2", target: "server.js" },
];

/** The content of a file in the archive of a commit. */
async function archivedFile(repository: Repository, hash: string, path: string): Promise<string> {
  const child = Bun.spawn(["tar", "-xO", path], { stdin: repository.archive(hash), stdout: "pipe" });
  return await child.stdout.text();
}

describe("a commit", () => {
  test("has its files for a plan, read by what they are and not by their names", async () => {
    using folder = testFolder();
    const repository = await openRepository(folder.path);
    const hash = await repository.commitUpload(streamed(tarOf(ENTRIES)), MAIN, TEXT);
    const files = await repository.files(hash);
    expect(files.entries.map(({ path, kind, bytes }) => [path, kind, bytes])).toEqual([
      [".gitattributes", "file", 32],
      ["link", "link", 9],
      ["package.json", "file", 38],
      ["server.js", "file", 0],
    ]);
    const contents = await files.read(["package.json", "server.js", "link", "absent"]);
    expect([...contents].map(([path, bytes]) => [path, Buffer.from(bytes).toString()])).toEqual([
      ["package.json", '{"scripts":{"start":"node server.js"}}'],
      ["server.js", ""],
    ]);
  });

  test("is archived with all of its files, whatever its attributes say", async () => {
    using folder = testFolder();
    const repository = await openRepository(folder.path);
    const hash = await repository.commitUpload(streamed(tarOf(ENTRIES)), MAIN, TEXT);
    const child = Bun.spawn(["tar", "-t"], { stdin: repository.archive(hash), stdout: "pipe" });
    expect((await child.stdout.text()).trim().split("\n").sort()).toEqual([
      ".gitattributes",
      "link",
      "package.json",
      "server.js",
    ]);
  });

  test.each(["* working-tree-encoding", "* working-tree-encoding=UTF-32", "* text=auto eol=crlf", "* crlf"])(
    "with the attributes `%s` is archived byte by byte",
    async (attributes) => {
      using folder = testFolder();
      const repository = await openRepository(folder.path);
      const entries = [
        { path: ".gitattributes", content: `${attributes}\n` },
        { path: "a.txt", content: "a\n" },
      ];
      const hash = await repository.commitUpload(streamed(tarOf(entries)), MAIN, TEXT);
      expect(await archivedFile(repository, hash, "a.txt")).toBe("a\n");
    },
  );

  test("in a repository of a former release is archived byte by byte too", async () => {
    using folder = testFolder();
    const former = await openRepository(folder.path);
    const entries = [
      { path: ".gitattributes", content: "* working-tree-encoding=UTF-16\n" },
      { path: "a.txt", content: "a" },
    ];
    const hash = await former.commitUpload(streamed(tarOf(entries)), MAIN, TEXT);
    await Bun.write(
      join(former.path, "info", "attributes"),
      "* -export-ignore -export-subst -text -ident -filter\n",
    );
    expect(await archivedFile(await openRepository(folder.path), hash, "a.txt")).toBe("a");
  });

  test("beyond the limits is refused before anything of it is read", async () => {
    using folder = testFolder();
    const repository = await openRepository(folder.path);
    const hash = await repository.commitUpload(
      streamed(tarOf([{ path: "a/b/c", content: "x".repeat(5_000) }])),
      MAIN,
      TEXT,
    );
    const small = (limits: object) => openRepository(folder.path, { ...SOURCE_LIMITS, ...limits });
    expect(await refusalOf((await small({ bytes: 1_000 })).files(hash))).toContain("have more than 0 MiB");
    expect(await refusalOf((await small({ depth: 2 })).files(hash))).toBe("a/b/c is in too many folders.");
    expect(await refusalOf((await small({ files: 0 })).files(hash))).toBe(
      "The files of the commit could not be listed: there are more than 0 of them.",
    );
    const archive = (await small({ bytes: 1_000 })).archive(hash);
    expect(await refusalOf(new Response(archive).bytes())).toBe(
      "The files of the commit are larger than Pilvi takes.",
    );
  });

  test("whose folders hold each other a million times is refused in time", async () => {
    using folder = testFolder();
    const repository = await openRepository(folder.path);
    const blob = Bun.spawnSync(["git", "hash-object", "-w", "--stdin"], {
      cwd: repository.path,
      stdin: Buffer.from("x"),
    });
    let line = `100644 blob ${blob.stdout.toString().trim()}`;
    for (let depth = 0; depth < 8; depth++) {
      const lines = Array.from({ length: 10 }, (_, at) => `${line}\tn${at}\n`).join("");
      const tree = Bun.spawnSync(["git", "mktree"], { cwd: repository.path, stdin: Buffer.from(lines) });
      line = `040000 tree ${tree.stdout.toString().trim()}`;
    }
    const tree = line.split(" ").at(-1) ?? "";
    const hash = (await git(repository.path, "commit-tree", "-m", "bomb", tree)).trim();
    expect(await refusalOf(repository.files(hash))).toContain("there are more than 50000 of them");
  });

  test("is named by its whole hash alone", async () => {
    using folder = testFolder();
    const repository = await openRepository(folder.path);
    for (const name of ["main", "--output=/tmp/x", "abc", ""]) {
      expect(() => repository.files(name)).toThrow("is no hash of a commit");
    }
  });

  test("that no branch leads to is gone after a garbage collection, and the others stay", async () => {
    using folder = testFolder();
    const repository = await openRepository(folder.path);
    const hash = await repository.commitUpload(streamed(tarOf(ENTRIES)), MAIN, TEXT);
    await Bun.write(join(repository.path, "objects", "pack", "tmp_pack_x"), "left by a killed git");
    await repository.collectGarbage();
    expect((await repository.files(hash)).entries).toHaveLength(4);
    expect(
      readdirSync(join(repository.path, "objects", "pack")).filter((name) => name.startsWith("tmp")),
    ).toEqual([]);
    await repository.remove();
    expect(readdirSync(folder.path)).toEqual([]);
  });
});

describe("a fetch", () => {
  test("brings the newest commit of a branch, again and after a force push", async () => {
    using folder = testFolder();
    const origin = await openRepository(join(folder.path, "origin"));
    await origin.commitUpload(streamed(tarOf([{ path: "old" }])), MAIN, TEXT);
    const first = await origin.commitUpload(streamed(tarOf(ENTRIES)), MAIN, TEXT);
    await using server = serveRepository(origin);
    const repository = await openRepository(folder.path);
    const source = { url: server.url, branch: "main", deployKey: null, mayReachItself: true };
    expect(await repository.fetch(source)).toBe(first);
    expect((await repository.files(first)).entries).toHaveLength(4);
    expect(await repository.fetch(source)).toBe(first);
    await git(origin.path, "update-ref", MAIN, `${first}^`);
    expect(await repository.fetch(source)).not.toBe(first);
    expect(readdirSync(repository.path).filter((name) => name.startsWith("keys-"))).toEqual([]);
  });

  test("of a branch that is not there, or of a server that is not there, says so", async () => {
    using folder = testFolder();
    const origin = await openRepository(join(folder.path, "origin"));
    await origin.commitUpload(streamed(tarOf(ENTRIES)), MAIN, TEXT);
    await using server = serveRepository(origin);
    const repository = await openRepository(folder.path);
    const source = { url: server.url, branch: "other", deployKey: null, mayReachItself: true };
    expect(await refusalOf(repository.fetch(source))).toBe(
      "The repository could not be fetched: couldn't find remote ref refs/heads/other.",
    );
    expect(
      await refusalOf(repository.fetch({ ...source, url: "http://ada:secret@127.0.0.1:1/x.git" })),
    ).not.toContain("secret");
  });

  test("from a server that never answers ends at the deadline", async () => {
    using folder = testFolder();
    const repository = await openRepository(folder.path);
    const silent = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: () => new Promise<Response>(() => {}),
    });
    try {
      const url = `http://127.0.0.1:${silent.port}/x.git`;
      const source = { url, branch: "main", deployKey: null, mayReachItself: true, deadlineMs: 1_000 };
      expect(await refusalOf(repository.fetch(source))).toBe(
        "The repository could not be fetched: it took longer than 1 s.",
      );
    } finally {
      await silent.stop(true);
    }
  });

  test("from a server that sends more than allowed is refused, and leaves no pack behind", async () => {
    using folder = testFolder();
    const origin = await openRepository(join(folder.path, "origin"));
    const random = Array.from({ length: 10 }, (_, at) => ({
      path: `n${at}`,
      content: crypto.getRandomValues(new Uint8Array(60_000)),
    }));
    await origin.commitUpload(streamed(tarOf(random)), MAIN, TEXT);
    await using server = serveRepository(origin);
    const repository = await openRepository(folder.path, { ...SOURCE_LIMITS, transferBytes: 100_000 });
    const source = { url: server.url, branch: "main", deployKey: null, mayReachItself: true };
    expect(await refusalOf(repository.fetch(source))).toContain("The repository could not be fetched");
    expect(await repository.branches()).toEqual([]);
    const packs = join(repository.path, "objects", "pack");
    expect(readdirSync(packs).filter((name) => /^tmp|^\.tmp/.test(name))).toEqual([]);
  });

  test.each([
    "http://127.0.0.1/x.git",
    "http://[::1]/x",
    "http://169.254.169.254/latest",
    "http://localhost/x",
    "git@127.0.0.1:x",
    "git://0.0.0.0/x",
    "http://[::ffff:127.0.0.1]/x",
    "http://[64:ff9b::127.0.0.1]/x",
    "http://[2002:a9fe:a9fe::1]/x",
    "http://100.100.100.200/latest",
    "http://168.63.129.16/machine",
    "http://[fd20:ce::254]/x",
  ])("from %s, which is this machine, is refused", async (url) => {
    using folder = testFolder();
    const repository = await openRepository(folder.path);
    expect(await refusalOf(repository.fetch({ url, branch: "main", deployKey: null }))).toContain(
      "the machine of Pilvi itself",
    );
  });

  test("with a key that is none is refused", async () => {
    using folder = testFolder();
    const repository = await openRepository(folder.path);
    const source = { url: "git@127.0.0.1:x.git", branch: "main", mayReachItself: true };
    const deployKey = "-----BEGIN OPENSSH PRIVATE KEY-----\n$(id)\n-----END OPENSSH PRIVATE KEY-----\n";
    expect(await refusalOf(repository.fetch({ ...source, deployKey }))).toContain("no private key");
  });
});

describe("the address of a repository", () => {
  test.each([
    "file:///etc/passwd",
    "/var/lib/pilvi",
    "ext::sh -c id",
    "ext::id",
    "-oProxyCommand=id",
    "ssh://-oProxyCommand=id/x",
    "ssh://%2DoProxyCommand=id@example.com/x",
    "ssh://git%0a@example.com/x",
    "ssh://git:secret@example.com/x",
    "fd::3",
    "ftp://example.com/x",
    "http://example.com/x y",
    "https://example.com/$(id)",
    "https://",
    "git@-host:x",
    "git://192.0.2.1?.example.com/x",
    "git://192.0.2.1#.example.com:6379/x",
    "https://example.com/\nx",
    "",
  ])("%j is refused", (url) => {
    expect(() => repositoryAddress(url)).toThrow("is no address of a repository");
  });

  test("may be of four protocols, or short for ssh", () => {
    expect(repositoryAddress("git@example.com:ada/shop.git")).toEqual({
      url: "git@example.com:ada/shop.git",
      protocol: "ssh",
      host: "example.com",
      port: 22,
    });
    expect(repositoryAddress("https://u:p@example.com:8443/x").port).toBe(8_443);
    expect(repositoryAddress("git://example.com/x").port).toBe(9_418);
    expect(repositoryAddress("http://[::1]/x").host).toBe("::1");
  });
});
