// The git of the machine that is found or refused, and the messages of git.
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
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
