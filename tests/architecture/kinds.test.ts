// Checks that every kind of resource has all that ARCHITECTURE.md lists for a new one.
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { kinds } from "../../src/resources/index.ts";
import { eventAbilities } from "../../src/resources/shared/event-schema.ts";
import { INSTANCE_KINDS } from "../../src/resources/shared/instance-kinds.ts";
import { filesBelow, ROOT } from "./source.ts";

const instanceKinds = new Map(Object.entries(INSTANCE_KINDS));
const migrations = filesBelow("migrations", ".sql")
  .map((path) => readFileSync(join(ROOT, path), "utf8"))
  .join("\n");

describe.each(kinds.map((kind) => ({ kind, name: kind.name })))("the kind $name", ({ kind, name }) => {
  test.each([
    `src/resources/${name}/index.ts`,
    `src/cli/${name}/index.ts`,
    `src/resources/${name}/console/index.ts`,
    `src/sdk/${name}.ts`,
    `docs/${name}.md`,
  ])("has %s", (path) => {
    expect(existsSync(join(ROOT, path))).toBe(true);
  });

  test("is in the client", () => {
    expect(readFileSync(join(ROOT, "src/sdk/client.ts"), "utf8")).toMatch(
      new RegExp(`readonly ${name}: \\w+;`),
    );
  });

  test("has counted lists", () => {
    const table = instanceKinds.get(name)?.table ?? name;
    expect(migrations).toContain(`call keep_counts('${name}', '${table}');`);
  });

  test("has its usage counted exactly when a driver runs instances of it", () => {
    const call = `call keep_usage('${name}', '${instanceKinds.get(name)?.table ?? name}');`;
    expect(migrations.includes(call)).toBe(instanceKinds.has(name));
  });

  test("is reconciled exactly when a driver runs something of it", () => {
    expect(kind.reconcile !== undefined).toBe(instanceKinds.has(name) || kind.slowWork !== undefined);
  });

  test("has events that its own ability shows", () => {
    const type = instanceKinds.get(name)?.type ?? name;
    const shown = Object.entries(eventAbilities).map(([of, ability]) => `${of} ${ability}`);
    expect(shown).toContain(`${type} ${name}:read`);
  });
});

test("every kind of instance is a kind", () => {
  const names = new Set(kinds.map(({ name }) => name));
  expect([...instanceKinds.keys()].filter((name) => !names.has(name))).toEqual([]);
});
