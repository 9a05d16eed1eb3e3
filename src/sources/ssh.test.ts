// How ssh is called: its arguments, its variables, and the file of the key.
import { expect, test } from "bun:test";
import { chmodSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newKeyPair } from "./deploy-key.ts";
import { findGit } from "./git.ts";
import { Repository } from "./repository.ts";
import { refusalOf, testFolder } from "./test-support.ts";

/** Stands for ssh: notes what it was called with, and fails. */
const PROGRAM = `#!/bin/sh
set -eu
here=$(dirname "$0")
printf '%s\\n' "$@" > "$here/arguments"
env > "$here/variables"
key=$(sed -n 's/^IdentityFile="\\(.*\\)"$/\\1/p' "$here/arguments")
stat -c %a "$key" "$(dirname "$key")" > "$here/modes"
echo "ssh: no luck" >&2
exit 255
`;

test("a private key is in a file of its owner alone, in no argument and no variable, and gone at the end", async () => {
  using folder = testFolder();
  const ssh = join(folder.path, "it's ssh");
  writeFileSync(ssh, PROGRAM);
  chmodSync(ssh, 0o755);
  const repository = await Repository.open(join(folder.path, "a b.git"), { git: { ...findGit(), ssh } });
  const deployKey = newKeyPair("pilvi").privateKey;
  const source = { url: "git@127.0.0.1:x.git", branch: "main", deployKey, mayReachItself: true };
  expect(await refusalOf(repository.fetch(source))).toBe("The repository could not be fetched: no luck.");
  const read = (name: string) => Bun.file(join(folder.path, name)).text();
  expect(await read("modes")).toBe("600\n700\n");
  const called = (await read("arguments")) + (await read("variables"));
  for (const line of deployKey.split("\n").slice(1, -2)) expect(called).not.toContain(line);
  const words = (await read("arguments")).trimEnd().split("\n");
  expect(words).toContain("BatchMode=yes");
  expect(words).toContain("IdentityAgent=none");
  expect(words).toContain("HostName=127.0.0.1");
  expect(words.at(-2)).toBe("git@127.0.0.1");
  expect(readdirSync(repository.path).filter((name) => name.startsWith("keys-"))).toEqual([]);
});
