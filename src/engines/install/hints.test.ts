// Chooses the command that installs an engine, by the variables of os-release.
import { expect, test } from "bun:test";
import { installHint, parseOsRelease, readOsRelease } from "./hints.ts";

test("os-release is read with and without quotes", () => {
  expect(parseOsRelease(`ID=debian\nID_LIKE="a b"\nNAME='x'\n# no\n`)).toEqual({
    ID: "debian",
    ID_LIKE: "a b",
    NAME: "x",
  });
  expect(readOsRelease("/nowhere")).toEqual({});
});

test("each family of systems has its command, and an unknown system has none", () => {
  expect(installHint("redis", { ID: "debian" })).toBe("sudo apt-get install redis-server");
  expect(installHint("redis", { ID: "linuxmint", ID_LIKE: "ubuntu debian" })).toContain("apt-get");
  expect(installHint("valkey", { ID: "rocky", ID_LIKE: "rhel centos fedora" })).toBe(
    "sudo dnf install valkey",
  );
  expect(installHint("mariadb", { ID: "alpine" })).toBe("sudo apk add mariadb");
  expect(installHint("postgres", { ID: "arch" })).toBe("sudo pacman -S postgresql");
  expect(installHint("redis", { ID: "nixos" })).toBeUndefined();
});
