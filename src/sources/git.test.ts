// The git of the machine that is found or refused, and the messages of git.
import { expect, test } from "bun:test";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { THROW_AWAY_OOM_SCORE } from "../lib/oom-score.ts";
import { findGit, withoutCredentials } from "./git.ts";
import { testFolder } from "./test-support.ts";

test("a machine without git is named with what installs it", () => {
  expect(() => findGit(["/nowhere/git"], null)).toThrow("apt-get install git");
});

test("a git that is too old is named with its version", () => {
  using folder = testFolder();
  const path = join(folder.path, "git");
  writeFileSync(path, "#!/bin/sh\necho git version 2.30.2\n", { mode: 0o755 });
  expect(() => findGit([path], null)).toThrow(`need git 2.37 or newer, and ${path} is 2.30.2.`);
});

/** The scores of git and of a child that it starts, as a program with that beginning runs it. */
async function oomScores(beginning: string): Promise<string> {
  using folder = testFolder();
  chmodSync(folder.path, 0o755);
  const path = join(folder.path, "git");
  writeFileSync(path, "#!/bin/sh\ncat /proc/$$/oom_score_adj /proc/self/oom_score_adj\n", { mode: 0o755 });
  const code = `
    import { gitOutput } from ${JSON.stringify(join(import.meta.dir, "git.ts"))};
    ${beginning}
    const options = { repository: "/", deadlineMs: 60_000, what: "The scores could not be read" };
    console.write(await gitOutput({ path: ${JSON.stringify(path)} }, [], options));
  `;
  const child = Bun.spawn([process.execPath, "-e", code], { stdout: "pipe" });
  return await child.stdout.text();
}

const GIVE_UP_ROOT = "process.setgroups([]); process.setgid(30000); process.setuid(30000);";

test.each(process.getuid?.() === 0 ? ["", GIVE_UP_ROOT] : [""])(
  "git and all that it starts are the first to end when the machine has no memory left: %p",
  async (beginning) => {
    expect(await oomScores(beginning)).toBe(`${THROW_AWAY_OOM_SCORE}\n`.repeat(2));
  },
);

test.each([
  [
    "unable to access 'https://ada:secret@git.example.com/a.git'",
    "unable to access 'https://git.example.com/a.git'",
  ],
  ["ssh://git@git.example.com/a and https://x@y/b", "ssh://git.example.com/a and https://y/b"],
  ["https://git.example.com/a@b", "https://git.example.com/a@b"],
])("%s has no credentials any more", (message, expected) => {
  expect(withoutCredentials(message)).toBe(expected);
});

test.each(["a", "://", "a://:"])("a message of millions of %s is as it was", (part) => {
  const message = part.repeat(1 << 20);
  expect(withoutCredentials(message)).toBe(message);
});
