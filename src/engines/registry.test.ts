// Facts that the registry derives from the folders of engines.
import { expect, test } from "bun:test";
import { engineNameSchema, foreignEngines } from "../contracts/engine-names.ts";
import { engineFor, engineNamed, majorOf, programOf, STORE_ENGINE } from "./registry.ts";

test("every name has an engine of that name, and every foreign one a program", () => {
  for (const name of engineNameSchema.options) expect(engineNamed(name).name).toBe(name);
  expect(foreignEngines.map((name) => programOf(name).label)).toEqual([
    "Valkey",
    "Redis",
    "Postgres",
    "MariaDB",
    "HAProxy",
  ]);
});

test("the major version is the part within which data files stay readable", () => {
  expect(majorOf("postgres", "17.6")).toBe("17");
  expect(majorOf("mariadb", "10.11.19")).toBe("10.11");
  expect(majorOf("valkey", "8.1.4")).toBe("8");
  expect(majorOf("realtime", "0.1.0")).toBe("any");
});

test("an engine is found for specs of its own kind only", () => {
  expect(engineFor("mariadb", "mysql")?.name).toBe("mariadb");
  expect(engineFor("mariadb", "postgres")).toBeUndefined();
});

test("the store's engine speaks the protocol that the control plane speaks", () => {
  expect(engineNamed(STORE_ENGINE).protocol).toBe("postgres");
});
