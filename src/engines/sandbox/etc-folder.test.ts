// The folder that sandboxes show as `/etc`: copies follow the machine's files, and show nothing else.
import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureEtcFolder } from "./etc-folder.ts";

let [folder, source]: [string, string] = ["", ""];
beforeEach(() => {
  const root = mkdtempSync(join(tmpdir(), "pilvi-etc-"));
  [folder, source] = [join(root, "etc"), join(root, "machine")];
  mkdirSync(source);
});
afterEach(() => rmSync(join(folder, ".."), { recursive: true, force: true }));

const textOf = (name: string): string => readFileSync(join(folder, name), "utf8");

test("known files are copied, and nothing else", () => {
  writeFileSync(join(source, "hosts"), "127.0.0.1 localhost\n");
  writeFileSync(join(source, "shadow"), "a secret");
  ensureEtcFolder(folder, source);
  expect(textOf("hosts")).toBe("127.0.0.1 localhost\n");
  expect([existsSync(join(folder, "shadow")), existsSync(join(folder, "services"))]).toEqual([false, false]);
});

test("a changed file is copied again, an unchanged file is not, and a removed file goes", () => {
  writeFileSync(join(source, "hosts"), "127.0.0.1 localhost\n");
  writeFileSync(join(source, "resolv.conf"), "nameserver 127.0.0.1\n");
  ensureEtcFolder(folder, source);
  const first = lstatSync(join(folder, "hosts")).ino;
  writeFileSync(join(source, "resolv.conf"), "nameserver 127.0.0.53\n");
  ensureEtcFolder(folder, source);
  expect(textOf("resolv.conf")).toBe("nameserver 127.0.0.53\n");
  expect(lstatSync(join(folder, "hosts")).ino).toBe(first);
  rmSync(join(source, "resolv.conf"));
  ensureEtcFolder(folder, source);
  expect(existsSync(join(folder, "resolv.conf"))).toBe(false);
});

test("a link into the system stays a link, and the target of another link is copied", () => {
  symlinkSync("/usr/bin/env", join(source, "localtime"));
  writeFileSync(join(source, "elsewhere"), "nameserver 127.0.0.1\n");
  symlinkSync("elsewhere", join(source, "resolv.conf"));
  ensureEtcFolder(folder, source);
  expect(readlinkSync(join(folder, "localtime"))).toBe("/usr/bin/env");
  expect(lstatSync(join(folder, "resolv.conf")).isFile()).toBe(true);
  rmSync(join(source, "localtime"));
  writeFileSync(join(source, "localtime"), "TZif2");
  ensureEtcFolder(folder, source);
  expect(textOf("localtime")).toBe("TZif2");
});

test("a link that leads nowhere and a folder in the place of a file are left out", () => {
  symlinkSync("gone", join(source, "resolv.conf"));
  mkdirSync(join(source, "hosts"));
  ensureEtcFolder(folder, source);
  expect([existsSync(join(folder, "resolv.conf")), existsSync(join(folder, "hosts"))]).toEqual([
    false,
    false,
  ]);
});

test("the lists of users and groups are those of the sandbox", () => {
  ensureEtcFolder(folder, source);
  expect(["passwd", "group"].map((name) => readlinkSync(join(folder, name)))).toEqual([
    "/run/pilvi/passwd",
    "/run/pilvi/group",
  ]);
});
