// Checks that what is known of an engine is in its folder: nothing else names one, but for what ARCHITECTURE.md lists.
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { foreignEngines } from "../../src/contracts/engine-names.ts";
import { ROOT, sourceFiles } from "./source.ts";

/** Files that name engines, or protocols and kinds of the same names, and why. */
const MAY_NAME = new Map([
  ["src/contracts/engine-names.ts", "the names"],
  ["src/engines/registry.ts", "the registry"],
  ["src/engines/runtimes/php-packages.ts", "extensions of PHP, which have the names of what they speak with"],
  ["src/contracts/gateway-link.ts", "protocols"],
  ["src/contracts/instance-spec.ts", "kinds of specs"],
  ["src/cli/session.ts", "protocols"],
  ["src/cli/databases/clients.ts", "client programs of protocols"],
  [
    "src/gateway/redis/client-command.ts",
    "what versions of an engine answer, of which the gateway answers some",
  ],
  ["src/gateway/redis/login.ts", "what versions of an engine answer, of which the gateway answers some"],
  ["src/processes/bootstrap/store-instance.ts", "the spec of the store"],
  ["src/resources/caches/engines.ts", "the engines of each type"],
  ["src/resources/caches/console/snippets.ts", "client libraries of the protocol"],
  ["src/resources/caches/login.ts", "schemes of URLs"],
  ["src/resources/caches/render.ts", "schemes of URLs"],
  ["src/resources/caches/schema.ts", "schemes of URLs, and an example"],
  ["src/resources/databases/console/snippets-mysql.ts", "the client program of the protocol"],
  ["src/resources/databases/types.ts", "the engines of each type"],
  ["src/resources/databases/login.ts", "adapters of protocols, and databases that every engine has"],
  ["src/resources/databases/schema.ts", "schemes of URLs, and an example"],
  ["src/resources/databases/schemas/schema.ts", "databases that every engine has"],
  ["src/resources/applications/edge.ts", "the engine of the edge"],
  ["src/resources/caches/variables.ts", "a variable of frameworks"],
  ["src/resources/databases/variables.ts", "schemes of URLs, and adapters of frameworks"],
  ["src/store/database.ts", "the adapter of the store"],
]);

/** What speaks for a protocol, and tests. */
const PASSED_OVER = /\.test\.ts$|\/test-(support|server|application)\.ts$|^src\/drivers\/contract\.ts$/;

const NAMED = new RegExp(`["'](${foreignEngines.join("|")})["']`);

describe("engines", () => {
  const naming = sourceFiles("src")
    .filter(({ path }) => !PASSED_OVER.test(path))
    .filter(({ path }) => !foreignEngines.some((name) => path.startsWith(`src/engines/${name}/`)))
    .filter(({ text }) => NAMED.test(text))
    .map(({ path }) => path);

  test("no file but an engine's own, the registry and the listed ones names an engine", () => {
    expect(naming.filter((path) => !MAY_NAME.has(path))).toEqual([]);
  });

  test("every listed file names an engine", () => {
    expect([...MAY_NAME.keys()].filter((path) => !naming.includes(path))).toEqual([]);
  });

  test.each([...foreignEngines])("%s has its engine and its program in its folder", (name) => {
    expect(existsSync(join(ROOT, `src/engines/${name}/index.ts`))).toBe(true);
    expect(existsSync(join(ROOT, `src/engines/${name}/program.ts`))).toBe(true);
  });
});
