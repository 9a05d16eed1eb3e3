// The git of the machine that is found, or refused.
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { findGit } from "./git.ts";
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
