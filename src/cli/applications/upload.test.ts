// The message and the author that an upload takes from git.
import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NewUpload } from "../../sdk/index.ts";
import { fakeIo } from "../test-support.ts";
import { uploadFolder } from "./upload.ts";

function testFolder(): { path: string; [Symbol.dispose](): void } {
  const path = mkdtempSync(join(tmpdir(), "pilvi-upload-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

function git(folder: string, ...args: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(
    ["git", "-c", "user.name=Ada", "-c", "user.email=a@b.c", ...args],
    {
      cwd: folder,
      env: { PATH: "/usr/bin:/bin", HOME: folder },
    },
  );
  if (exitCode !== 0) throw new Error(`git ${args.join(" ")}: ${stderr.toString()}`);
}

/** A folder with one commit. */
async function commitIn(folder: string): Promise<void> {
  git(folder, "init", "--quiet");
  await Bun.write(join(folder, "web/index.html"), "one");
  await Bun.write(join(folder, "other/index.html"), "one");
  await Bun.write(join(folder, ".gitignore"), "ignored\n");
  git(folder, "add", "--all");
  git(folder, "commit", "--quiet", "-m", "First", "-m", "body");
}

function send(upload: NewUpload): Promise<NewUpload> {
  return Promise.resolve(upload);
}

async function messageOf(folder: string, given?: string): Promise<string | undefined> {
  const { message, authorName } = await uploadFolder(fakeIo({ folder }), folder, given, send);
  expect(authorName).toBe("Ada");
  return message;
}

test("a folder as it was committed has the message of the commit", async () => {
  using folder = testFolder();
  await commitIn(folder.path);
  for (const name of ["ignored", "node_modules/x", ".pilvi/project.json", "web/node_modules/x"])
    await Bun.write(join(folder.path, name), "");
  for (const place of ["", "web"]) expect(await messageOf(join(folder.path, place))).toBe("First");
});

test.each([
  ["a changed file", "web/index.html"],
  ["a new file", "web/new.html"],
])("a folder with %s has the message with a mark, unless another is given", async (_, name) => {
  using folder = testFolder();
  await commitIn(folder.path);
  await Bun.write(join(folder.path, name), "two");
  for (const place of ["", "web"])
    expect(await messageOf(join(folder.path, place))).toBe("First (with changes)");
  expect(await messageOf(folder.path, "Fix it")).toBe("Fix it");
  expect(await messageOf(join(folder.path, "other"))).toBe("First");
});

test("a folder whose latest commit is not its own state in the index has the mark", async () => {
  using folder = testFolder();
  await commitIn(folder.path);
  rmSync(join(folder.path, "web/index.html"));
  mkdirSync(join(folder.path, "web"), { recursive: true });
  git(folder.path, "add", "--all");
  expect(await messageOf(folder.path)).toBe("First (with changes)");
});

test.each([
  ["before the end of the archive", false, "Interrupted. Nothing was deployed."],
  [
    "after it",
    true,
    "Interrupted. All files were sent, so a deployment may have begun; pilvi deployments says so.",
  ],
])("Ctrl-C %s says what it means", async (_, isRead, message) => {
  using folder = testFolder();
  await Bun.write(join(folder.path, "index.html"), "one");
  const io = fakeIo({ folder: folder.path });
  const upload = uploadFolder(io, folder.path, undefined, async ({ archive, signal }) => {
    const stream = archive();
    if (isRead) await new Response(stream).arrayBuffer();
    io.interrupt();
    signal?.throwIfAborted();
  });
  await expect(upload).rejects.toMatchObject({ message, exitCode: 130 });
});
