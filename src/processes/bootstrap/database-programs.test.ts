// Finding the program that opens a session with a database, on machines with and without such a program.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findDatabaseProgram } from "./database-programs.ts";

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "pilvi-programs-"));
  mkdirSync(join(folder, "bin"));
  for (const name of ["psql", "mysql"])
    writeFileSync(join(folder, "bin", name), "#!/bin/sh\n", { mode: 0o755 });
  for (const version of ["10.6.9", "10.11.4", "11.4.2"]) addMariadb(version, version !== "11.4.2");
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** Puts a MariaDB into a store; not every package of MariaDB has a client. */
function addMariadb(version: string, hasClient: boolean): void {
  const home = join(folder, "engines", `mariadb-${version}`);
  mkdirSync(join(home, "usr/bin"), { recursive: true });
  const note = { name: "mariadb", version, program: "usr/sbin/mariadbd", libraryDirs: ["usr/lib"] };
  writeFileSync(join(home, "pilvi-engine.json"), JSON.stringify(note));
  if (hasClient) writeFileSync(join(home, "usr/bin/mariadb"), "");
}

test("the newest MariaDB client in the store comes before the clients of the system", () => {
  const home = join(folder, "engines/mariadb-10.11.4");
  expect(findDatabaseProgram("mysql", join(folder, "engines"), join(folder, "bin"))).toEqual({
    path: join(home, "usr/bin/mariadb"),
    env: { LD_LIBRARY_PATH: join(home, "usr/lib") },
  });
});

test("without a store the clients of the system are taken", () => {
  const none = join(folder, "none");
  expect(findDatabaseProgram("mysql", none, join(folder, "bin"))).toEqual({
    path: join(folder, "bin/mysql"),
    env: {},
  });
  expect(findDatabaseProgram("postgres", none, join(folder, "bin"))).toEqual({
    path: join(folder, "bin/psql"),
    env: {},
  });
});

test("a machine without a client is refused with what to install", () => {
  const none = join(folder, "none");
  expect(() => findDatabaseProgram("mysql", none, none)).toThrow(
    /^There is no mariadb or mysql on this machine\. Install/,
  );
  expect(() => findDatabaseProgram("postgres", none, none)).toThrow(
    /^There is no psql on this machine\. Install/,
  );
});
