// Uploads become commits, and archives that lie or escape become nothing.
import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { SOURCE_LIMITS } from "./bounds.ts";
import type { Repository } from "./repository.ts";
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

const REF = "refs/pilvi/uploads/env-1";

function upload(repository: Repository, entries: TestEntry[], end = true): Promise<string> {
  return repository.commitUpload(streamed(tarOf(entries, end)), REF, TEXT);
}

function manyOf(type: string): TestEntry[] {
  return Array.from({ length: 120 }, (_, at) => ({ path: `n${at}`, type }));
}

describe("an upload", () => {
  test("is dropped also when a git that was killed left the lock of its ref", async () => {
    using folder = testFolder();
    const repository = await openRepository(folder.path);
    const hash = await repository.commitUpload(
      streamed(tarOf([{ path: "a", content: "a" }])),
      `${REF}/one`,
      TEXT,
    );
    expect(await repository.resolve(`${REF}/one`)).toBe(hash);
    await Bun.write(join(repository.path, `${REF}/one.lock`), "");
    await repository.changeUploads([{ ref: `${REF}/one` }]);
    expect(await repository.resolve(`${REF}/one`)).toBeNull();
  });

  test("becomes a commit with its files, links and modes, and the next upload replaces all of them", async () => {
    using folder = testFolder();
    const repository = await openRepository(folder.path);
    const hash = await upload(repository, [
      { path: "./", type: "5" },
      { path: "./package.json", content: "{}" },
      { path: "bin/run", content: "#!/bin/sh\n", mode: 0o755 },
      { path: "bin/other", type: "2", target: "../bin/run" },
      { path: "copy", type: "1", target: "package.json" },
      { path: 'a "quoted" \\ name', content: "x".repeat(3_000) },
    ]);
    const tree = await git(repository.path, "ls-tree", "-r", "-z", hash);
    expect(tree.split("\0").map((line) => line.replace(/ blob \w+\t/, " "))).toEqual([
      '100644 a "quoted" \\ name',
      "120000 bin/other",
      "100755 bin/run",
      "100644 copy",
      "100644 package.json",
      "",
    ]);
    expect(await repository.facts(hash)).toEqual({
      hash,
      message: TEXT.message,
      author: { name: "Ada x", email: "ada@example.com" },
      committedAt: TEXT.at,
    });
    const next = await upload(repository, [{ path: "index.html", content: "hello" }]);
    expect(await git(repository.path, "ls-tree", "-r", "--name-only", next)).toBe("index.html\n");
    expect((await git(repository.path, "rev-parse", `${next}^`)).trim()).toBe(hash);
    expect(await repository.resolve(REF)).toBe(next);
  });

  test("leaves no single objects, which git would not sync one by one", async () => {
    using folder = testFolder();
    const repository = await openRepository(folder.path);
    await upload(repository, [{ path: "index.html", content: "hello" }]);
    const counted = await git(repository.path, "count-objects", "-v");
    expect(counted).toMatch(/^count: 0$/m);
    expect(counted).toMatch(/^packs: 1$/m);
  });

  test("of GNU tar, with gzip and long names, has the same files", async () => {
    using folder = testFolder();
    const repository = await openRepository(folder.path);
    const name = `${"long/".repeat(30)}${"n".repeat(120)}.txt`;
    for (const format of ["gnu", "pax", "ustar"]) {
      const path = format === "ustar" ? "short.txt" : name;
      await Bun.write(join(folder.path, format, path), format);
      const child = Bun.spawn(["tar", "-cz", `--format=${format}`, "-C", join(folder.path, format), "."], {
        stdout: "pipe",
      });
      const hash = await repository.commitUpload(child.stdout, REF, TEXT);
      expect(await git(repository.path, "show", `${hash}:${path}`)).toBe(format);
    }
  });

  const HOSTILE: [what: string, entries: TestEntry[], refusal: string][] = [
    ["git's own folder", [{ path: ".git/config" }], ".git/config is in git's own folder."],
    [
      "git's folder deeper and in capitals",
      [{ path: "a/.GIT/hooks/x" }],
      "a/.GIT/hooks/x is in git's own folder.",
    ],
    [
      "git's folder as other systems write it",
      [{ path: "git~1/config" }],
      "git~1/config is in git's own folder.",
    ],
    [
      "git's folder with a character that is not seen",
      [{ path: ".g\u200cit/x" }],
      ".g?it/x is in git's own folder.",
    ],
    [
      "git's folder behind a backslash",
      [{ path: "x\\.git", content: "x" }],
      "x\\.git is in git's own folder.",
    ],
    ["git's folder with dots and spaces", [{ path: "git~1. " }], "git~1.  is in git's own folder."],
    [
      "a link in the place of a file of git's",
      [{ path: "a/.gitmodules", type: "2", target: "x" }],
      "a/.gitmodules is a link, and git takes no link of this name.",
    ],
    [
      "such a link as other systems write it",
      [{ path: "x\\GITMOD~1 ", type: "2", target: "x" }],
      "x\\GITMOD~1  is a link, and git takes no link of this name.",
    ],
    ["a way out", [{ path: "../x" }], "../x leaves the folder."],
    ["a way out in the middle", [{ path: "a/../../x" }], "a/../../x leaves the folder."],
    [
      "an absolute path",
      [{ path: "/etc/passwd" }],
      "/etc/passwd begins with a slash; paths in an archive are relative.",
    ],
    ["a name with a line feed", [{ path: "a\nb" }], "a?b has a control character in its name."],
    [
      "a name that is no UTF-8",
      [{ path: new Uint8Array([0x61, 0xff]) }],
      "The archive has a name that is no UTF-8: a\ufffd.",
    ],
    [
      "an absolute link",
      [{ path: "a", type: "2", target: "/etc" }],
      "a is a link to /etc, which is not in the source.",
    ],
    [
      "a link out of it",
      [{ path: "a/b", type: "2", target: "../../x" }],
      "a/b is a link to ../../x, which leads out of the source.",
    ],
    [
      "a link that goes up behind another link",
      [
        { path: "d", type: "2", target: "." },
        { path: "l", type: "2", target: "d/../x" },
      ],
      "l is a link to d/../x, which leads out of the source.",
    ],
    [
      "a hard link to a link",
      [
        { path: "d/x", content: "" },
        { path: "d/x", type: "2", target: "../y" },
        { path: "e", type: "1", target: "d/x" },
      ],
      "e is a hard link to d/x, which is not in the archive.",
    ],
    [
      "a hard link to a folder that took a file's place",
      [
        { path: "d/e" },
        { path: "d/e/l", type: "2", target: "../../y" },
        { path: "z", type: "1", target: "d/e" },
      ],
      "z is a hard link to d/e, which is not in the archive.",
    ],
    [
      "a hard link to a file of the machine",
      [{ path: "a", type: "1", target: "etc/passwd" }],
      "a is a hard link to etc/passwd, which is not in the archive.",
    ],
    [
      "a device",
      [{ path: "sda", type: "4" }],
      "sda is a device; only files, folders and links can be deployed.",
    ],
    ["a pipe", [{ path: "p", type: "6" }], "p is a pipe; only files, folders and links can be deployed."],
    ["41 folders", [{ path: "a/".repeat(41) + "b" }], `${"a/".repeat(40)}… is in too many folders.`],
    ["a file larger than it is", [{ path: "a", content: "x", size: 5_000 }], "The archive is cut off."],
    ["a file larger than allowed", [{ path: "a", size: 300 << 20 }], "a is larger than 256 MiB."],
    ["no files", [{ path: "a/", type: "5" }], "The archive has no files."],
    [
      "an extended header without an end",
      [{ path: "x", type: "x", content: "99 path=../x\n" }],
      "The archive has a malformed header.",
    ],
    [
      "an extended header with a way out",
      [{ path: "x", type: "x", content: "13 path=../x\n" }, { path: "ok" }],
      "../x leaves the folder.",
    ],
    [
      "an extended header of a megabyte",
      [{ path: "x", type: "x", content: "a".repeat(1 << 20) }],
      "The archive has a name that is too long.",
    ],
  ];

  test.each(HOSTILE)("with %s is refused, and leaves the branch as it was", async (_, entries, refusal) => {
    using folder = testFolder();
    const repository = await openRepository(folder.path);
    const before = await upload(repository, [{ path: "ok", content: "1" }]);
    expect(await refusalOf(upload(repository, entries))).toBe(refusal);
    expect(await repository.resolve(REF)).toBe(before);
    expect(readdirSync(repository.path).filter((name) => name.startsWith("fast_import"))).toEqual([]);
    await upload(repository, [{ path: "ok", content: "2" }]);
  });

  test("that ends early is refused", async () => {
    using folder = testFolder();
    const repository = await openRepository(folder.path);
    expect(await refusalOf(upload(repository, [{ path: "a", content: "x" }], false))).toBe(
      "The archive is cut off.",
    );
    expect(await repository.resolve(REF)).toBeNull();
  });

  test("that is no archive is refused", async () => {
    using folder = testFolder();
    const repository = await openRepository(folder.path);
    const noise = streamed(new Uint8Array(Buffer.from("<html>".repeat(200))));
    expect(await refusalOf(repository.commitUpload(noise, REF, TEXT))).toBe("The upload is no tar archive.");
    const gzip = streamed(new Uint8Array([0x1f, 0x8b, 1, 2, 3, 4, 5, 6, 7, 8, 9]));
    expect(await refusalOf(repository.commitUpload(gzip, REF, TEXT))).toBe(
      "The archive is no complete gzip.",
    );
  });

  test("with a gzip bomb ends at the bound, without a pack left behind", async () => {
    using folder = testFolder();
    const limits = { ...SOURCE_LIMITS, bytes: 4 << 20, fileBytes: 2 << 20 };
    const repository = await openRepository(folder.path, limits);
    const part = Buffer.alloc(1 << 20);
    const entries = Array.from({ length: 40 }, (_, at) => ({ path: `f${at}`, content: part }));
    const bomb = Bun.gzipSync(tarOf(entries));
    expect(bomb.length).toBeLessThan(100_000);
    expect(await refusalOf(repository.commitUpload(streamed(bomb), REF, TEXT))).toBe(
      "The files have more than 4 MiB.",
    );
    const packs = join(repository.path, "objects", "pack");
    expect(readdirSync(packs).filter((name) => name.startsWith("tmp"))).toEqual([]);
  });

  test("with more files than allowed, or more empty folders, is refused", async () => {
    using folder = testFolder();
    const repository = await openRepository(folder.path, { ...SOURCE_LIMITS, files: 50 });
    expect(await refusalOf(upload(repository, manyOf("0")))).toBe("The archive has more than 50 files.");
    expect(await refusalOf(upload(repository, manyOf("5")))).toBe("The archive has more than 50 files.");
  });

  test("that is cancelled ends at once", async () => {
    using folder = testFolder();
    const repository = await openRepository(folder.path);
    const [head, cancel] = [tarOf([{ path: "a", content: "x" }], false), new AbortController()];
    const endless = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        controller.enqueue(head);
        await Bun.sleep(1);
        cancel.abort();
      },
    });
    expect(await refusalOf(repository.commitUpload(endless, REF, TEXT, { signal: cancel.signal }))).toContain(
      "it was cancelled.",
    );
  });

  test("for a branch outside of its place is refused", async () => {
    using folder = testFolder();
    const repository = await openRepository(folder.path);
    for (const ref of [
      "HEAD",
      "refs/heads/../x",
      "refs/tags/x",
      "refs/heads/a b",
      "refs/heads/a\nb",
      "refs/heads/-x",
      "refs/heads/x.lock",
    ]) {
      expect(() => repository.commitUpload(streamed(tarOf([])), ref, TEXT)).toThrow("no name of a branch");
    }
  });
});
