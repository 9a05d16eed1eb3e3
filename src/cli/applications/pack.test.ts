// A folder is packed with what git would take, with git and without.
import { describe, expect, test } from "bun:test";
import { linkSync, mkdtempSync, rmSync, symlinkSync, unlinkSync } from "node:fs";
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
    "a\nb": "a name with a line feed",
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
  "a\nb",
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
    expect((await namesIn(packed.archive())).sort()).toEqual(
      EXPECTED.flatMap((name) => name.split("\n")).sort(),
    );
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
    expect((await namesIn(packed.archive())).sort()).toEqual(
      EXPECTED.flatMap((name) => name.split("\n")).sort(),
    );
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

  test("without files is refused", async () => {
    using folder = testFolder();
    await expect(packFolder(folder.path)).rejects.toThrow("There is nothing to deploy");
  });
});
