// A folder is packed with what git would take, with git and without.
import { describe, expect, test } from "bun:test";
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { filesOfFolder } from "./folder-files.ts";
import { packFolder } from "./pack.ts";

function testFolder(): { path: string; [Symbol.dispose](): void } {
  const path = mkdtempSync(join(tmpdir(), "pilvi-pack-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

async function fill(folder: string): Promise<void> {
  const files = {
    ".gitignore": "*.log\n/dist/\nsecrets/*\n!secrets/example\nIcon?\nout/\n",
    "package.json": "{}",
    "-x": "a name like an option",
    "a  b": "a name with spaces",
    "debug.log": "",
    "dist/app.js": "",
    "src/dist/app.js": "",
    "src/.gitignore": "!keep.log\nlocal\n",
    "src/keep.log": "",
    "src/other.log": "",
    "src/local/x": "",
    "secrets/key": "",
    "secrets/example": "",
    "icons/a.svg": "",
    "packages/[web]/.gitignore": "!out/\n/top\r\n# a comment\nsub/a*\ndeep/\n",
    "packages/[web]/out/app.js": "",
    "packages/[web]/top": "",
    "packages/[web]/sub/top": "",
    "packages/[web]/sub/any": "",
    "packages/[web]/sub/deep/x": "",
    "packages/web/out/app.js": "",
  };
  for (const [name, content] of Object.entries(files)) await Bun.write(join(folder, name), content);
  symlinkSync("package.json", join(folder, "link"));
}

const EXPECTED = [
  "-x",
  ".gitignore",
  "a  b",
  "icons/a.svg",
  "link",
  "package.json",
  "packages/[web]/.gitignore",
  "packages/[web]/out/app.js",
  "packages/[web]/sub/top",
  "secrets/example",
  "src/.gitignore",
  "src/dist/app.js",
  "src/keep.log",
];

function run(folder: string, ...command: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(command, {
    cwd: folder,
    env: { PATH: "/usr/bin:/bin", HOME: folder },
  });
  if (exitCode !== 0) throw new Error(`${command.join(" ")}: ${stderr.toString()}`);
}

async function namesIn(archive: ReadableStream<Uint8Array>): Promise<string[]> {
  const child = Bun.spawn(["tar", "-tz", "--quoting-style=literal", "--show-transformed-names"], {
    stdin: new Uint8Array(await new Response(archive).arrayBuffer()),
    stdout: "pipe",
  });
  return (await child.stdout.text()).trim().split("\n");
}

describe("a working folder", () => {
  test("without git is packed without what its .gitignore files name", async () => {
    using folder = testFolder();
    await fill(folder.path);
    await Bun.write(join(folder.path, "node_modules/x/index.js"), "");
    expect(filesOfFolder(folder.path, 100)).toEqual(EXPECTED);
    const packed = await packFolder(folder.path);
    expect(packed.files).toBe(EXPECTED.length);
    expect((await namesIn(packed.archive())).sort()).toEqual(EXPECTED);
  });

  test("with git has the same files, new ones as well, without deleted files", async () => {
    using folder = testFolder();
    await fill(folder.path);
    run(folder.path, "git", "init", "--quiet");
    await Bun.write(join(folder.path, "gone"), "");
    run(folder.path, "git", "add", "gone", "package.json");
    unlinkSync(join(folder.path, "gone"));
    const packed = await packFolder(folder.path);
    expect(packed.files).toBe(EXPECTED.length);
    expect((await namesIn(packed.archive())).sort()).toEqual(EXPECTED);
  });

  test("with a folder in the place of a tracked file, or a file in that of a folder, has what is there", async () => {
    using folder = testFolder();
    await Bun.write(join(folder.path, "lib/util.js"), "");
    await Bun.write(join(folder.path, "bin"), "");
    run(folder.path, "git", "init", "--quiet");
    run(folder.path, "git", "add", ".");
    rmSync(join(folder.path, "lib"), { recursive: true });
    rmSync(join(folder.path, "bin"));
    await Bun.write(join(folder.path, "lib"), "");
    await Bun.write(join(folder.path, "bin/start"), "");
    const { archive, omitted } = await packFolder(folder.path);
    expect([(await namesIn(archive())).sort(), omitted]).toEqual([["bin/start", "lib"], []]);
  });

  test("has the files of repositories within it, and says which git does not list", async () => {
    using folder = testFolder();
    await Bun.write(join(folder.path, "a"), "");
    run(folder.path, "git", "init", "--quiet");
    for (const name of ["vendor/sub", "vendor/sub/inner", "vendor/new"]) {
      const inner = join(folder.path, name);
      await Bun.write(join(inner, ".gitignore"), "ignored\n");
      await Bun.write(join(inner, "ignored"), "");
      await Bun.write(join(inner, "index.js"), "");
      run(inner, "git", "init", "--quiet");
      run(inner, "git", "add", "index.js");
      run(inner, "git", "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "--quiet", "-m", "x");
    }
    run(folder.path, "git", "add", "vendor/sub");
    const missing = `160000,${"1".repeat(40)},vendor/missing`;
    run(folder.path, "git", "update-index", "--add", "--cacheinfo", missing);
    mkdirSync(join(folder.path, "vendor/missing"));
    const { archive, omitted } = await packFolder(folder.path);
    expect((await namesIn(archive())).sort()).toEqual([
      "a",
      ...["new", "sub", "sub/inner"]
        .flatMap((name) => [`vendor/${name}/.gitignore`, `vendor/${name}/index.js`])
        .sort(),
    ]);
    expect(omitted).toEqual(["vendor/missing"]);
  });

  test("is packed with tracked folders `node_modules` alone", async () => {
    using folder = testFolder();
    for (const name of [
      "a",
      "node_modules/x/index.js",
      "web/node_modules/y/index.js",
      "web/.DS_Store",
      "b/x",
    ])
      await Bun.write(join(folder.path, name), "");
    await Bun.write(join(folder.path, "kept/node_modules/z/index.js"), "");
    run(folder.path, "git", "init", "--quiet");
    run(folder.path, "git", "add", "kept");
    run(join(folder.path, "node_modules/x"), "git", "init", "--quiet");
    const { archive, omitted } = await packFolder(folder.path);
    expect((await namesIn(archive())).sort()).toEqual(["a", "b/x", "kept/node_modules/z/index.js"]);
    expect(omitted).toEqual([]);
  });

  test.each([true, false])("beyond the bounds of Pilvi is refused by the name (git: %p)", async (isGit) => {
    for (const [name, refusal] of [
      ["a\nb", String.raw`"a\nb" has a control character in its name`],
      [`${"d/".repeat(40)}x`, `${"d/".repeat(40)}x is in more than 39 folders`],
      [`${"d".repeat(250)}/`.repeat(4) + "x", "has a path of more than 1000 bytes"],
    ] as const) {
      using folder = testFolder();
      await Bun.write(join(folder.path, name), "");
      if (isGit) run(folder.path, "git", "init", "--quiet");
      await expect(packFolder(folder.path)).rejects.toThrow(refusal);
    }
    using folder = testFolder();
    if (isGit) run(folder.path, "git", "init", "--quiet");
    await Bun.write(join(folder.path, "large"), "");
    truncateSync(join(folder.path, "large"), (256 << 20) + 1);
    await expect(packFolder(folder.path)).rejects.toThrow("large is larger than 256 MiB");
    truncateSync(join(folder.path, "large"), 256 << 20);
    await Bun.write(join(folder.path, `${"d/".repeat(39)}x`), "");
    expect((await packFolder(folder.path)).files).toBe(2);
  });

  test("with a name that is no text is refused, unless the file is deleted or ignored", async () => {
    using folder = testFolder();
    const name = Buffer.concat([Buffer.from(`${folder.path}/caf`), Buffer.of(0xe9)]);
    writeFileSync(name, "");
    const refusal = "The name of caf\u{FFFD} is not UTF-8";
    await expect(packFolder(folder.path)).rejects.toThrow(refusal);
    run(folder.path, "git", "init", "--quiet");
    await expect(packFolder(folder.path)).rejects.toThrow(refusal);
    run(folder.path, "git", "add", ".");
    unlinkSync(name);
    await Bun.write(join(folder.path, "a"), "");
    expect((await packFolder(folder.path)).files).toBe(1);
    rmSync(join(folder.path, ".git"), { recursive: true });
    writeFileSync(name, "");
    await Bun.write(join(folder.path, ".gitignore"), "caf*\n");
    expect((await packFolder(folder.path)).files).toBe(2);
  });

  test("has files with two names as two files", async () => {
    using folder = testFolder();
    await Bun.write(join(folder.path, "a"), "x");
    linkSync(join(folder.path, "a"), join(folder.path, "b"));
    const { archive } = await packFolder(folder.path);
    const child = Bun.spawn(["tar", "-tvz"], {
      stdin: new Uint8Array(await new Response(archive()).arrayBuffer()),
      stdout: "pipe",
    });
    const lines = (await child.stdout.text()).trim().split("\n");
    expect(lines.map((line) => line[0])).toEqual(["-", "-"]);
  });

  test("with a file that cannot be read has an archive that fails before its end", async () => {
    using folder = testFolder();
    await Bun.write(join(folder.path, "a"), "x");
    await Bun.write(join(folder.path, "b"), "x");
    const packed = await packFolder(folder.path);
    unlinkSync(join(folder.path, "b"));
    await expect(new Response(packed.archive()).arrayBuffer()).rejects.toThrow(
      /^The folder could not be packed: b: /,
    );
  });

  test("in a repository that git cannot open is refused, as what it ignores is not known", async () => {
    using folder = testFolder();
    const app = join(folder.path, "app");
    await Bun.write(join(folder.path, ".gitignore"), ".env\n");
    await Bun.write(join(app, ".env"), "SECRET=1");
    await Bun.write(join(app, "index.html"), "");
    run(folder.path, "git", "init", "--quiet");
    expect((await packFolder(app)).files).toBe(1);
    run(folder.path, "git", "config", "core.repositoryFormatVersion", "99");
    await expect(packFolder(app)).rejects.toThrow(
      /^Git cannot list the files of .*\/app, so it is not known what to leave out\.\nfatal: .*99/,
    );
  });

  test("without files is refused", async () => {
    using folder = testFolder();
    await expect(packFolder(folder.path)).rejects.toThrow("There is nothing to deploy");
  });
});
