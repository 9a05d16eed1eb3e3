// Checks who imports whom, and the other rules of the source that ARCHITECTURE.md and CONTRIBUTING.md state.
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { join } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import { isSlice, partOf, partRules, roomRules } from "./rules.ts";
import { filesBelow, importsOf, ROOT, sourceFiles, type Import, type SourceFile } from "./source.ts";

const MAX_LINES = 300;
const SLICE_FILES = ["schema", "store", "routes", "reconciler", "index"];

/** What several tests run: the contract of every driver, and what clients of databases do about sleep. */
const SHARED_TESTS = new Set(["src/drivers/contract.ts", "tests/e2e/sleep/drivers.ts"]);

const all = sourceFiles("src");
const sources = all.filter(({ path }) => !isTestCode(path) && !path.endsWith(".d.ts"));

/** Tests, and what they share. */
function isTestCode(path: string): boolean {
  return path.endsWith(".test.ts") || /\/test-[a-z-]+\.ts$/.test(path) || SHARED_TESTS.has(path);
}

describe("imports", () => {
  test("every part of src/ has a rule", () => {
    expect(partRules.without(sources)).toEqual([]);
  });

  test("every part imports only what its rule allows", () => {
    expect(sources.flatMap((file) => partRules.faultsOf(file))).toEqual([]);
  });

  test("every room of a divided part has a rule", () => {
    expect(roomRules.names).not.toEqual([]);
    expect(roomRules.without(sources.filter(({ path }) => roomRules.isDivided(path)))).toEqual([]);
  });

  test("every room imports only what its rule allows within its part", () => {
    expect(sources.flatMap((file) => roomRules.faultsOf(file))).toEqual([]);
  });

  test("a room may import only rooms that stand above it", () => {
    expect(roomRules.backwards()).toEqual([]);
  });

  test("every imported file exists", () => {
    const missing = all.flatMap(({ path, imports }) =>
      imports
        .filter(({ target }) => target !== undefined && !existsSync(join(ROOT, target)))
        .map(({ specifier }) => `${path} imports ${specifier}, which is not there`),
    );
    expect(missing).toEqual([]);
  });

  test("of what lies outside src/, migrations are imported by store/, and package.json by commands.ts", () => {
    const owners: [pattern: RegExp, path: RegExp][] = [
      [/^migrations\//, /^src\/store\//],
      [/^package\.json$/, /^src\/(commands\.ts$|processes\/)/],
    ];
    const faults = sources.flatMap(({ path, imports }) =>
      imports
        .filter(({ target }) => target !== undefined && !target.startsWith("src/"))
        .filter(({ target = "" }) => !owners.some(([what, who]) => what.test(target) && who.test(path)))
        .map(({ specifier }) => `${path} imports ${specifier}, which lies outside src/`),
    );
    expect(faults).toEqual([]);
  });

  test("no test code is imported by the product", () => {
    const faults = sources.flatMap(({ path, imports }) =>
      imports
        .filter(({ target }) => target !== undefined && isTestCode(target))
        .map(({ specifier }) => `${path} imports ${specifier}, which is test code`),
    );
    expect(faults).toEqual([]);
  });

  test("every package is a dependency in package.json", () => {
    const known = new Set(["bun", ...builtinModules, ...Object.keys(packageJson.dependencies)]);
    const faults = sources.flatMap(({ path, imports }) =>
      imports
        .filter(({ target, specifier }) => target === undefined && !/^(node|bun):/.test(specifier))
        .filter(({ specifier }) => !known.has(packageOf(specifier)))
        .map(({ specifier }) => `${path} imports ${specifier}, which is not among the dependencies`),
    );
    expect(faults).toEqual([]);
  });

  test("no two parts import each other, not even in a round", () => {
    expect(cycles(graphOf(sources, partOf))).toEqual([]);
  });

  test("no two rooms import each other, not even in a round", () => {
    expect(cycles(graphOf(sources, (path) => roomRules.nameOf(path) ?? partOf(path)))).toEqual([]);
  });
});

/** Slices of people and tokens are no kinds: their rows are their whole state. */
function isKind(slice: string): boolean {
  return textOf(`src/${slice}/index.ts`).includes("ResourceKind");
}

describe("files", () => {
  test("every slice has the same files", () => {
    const slices = new Set(sources.map(({ path }) => partOf(path)).filter(isSlice));
    const missing = [...slices].flatMap((slice) =>
      SLICE_FILES.filter((name) => name !== "reconciler" || isKind(slice))
        .map((name) => `src/${slice}/${name}.ts`)
        .filter((path) => !existsSync(join(ROOT, path))),
    );
    expect(slices.size).toBeGreaterThan(0);
    expect(missing).toEqual([]);
  });

  test(`no file of src/ or scripts/ has more than ${MAX_LINES} lines`, () => {
    const texts = [...all.map(({ path }) => path), ...filesBelow("scripts", ".mjs")].map(
      (path) => [path, textOf(path).trimEnd().split("\n").length] as const,
    );
    expect(texts.filter(([, lines]) => lines > MAX_LINES)).toEqual([]);
  });

  test("every assertion about a promise is awaited, since a failing one is lost otherwise", () => {
    const assertion = /^\s*expect\((?:(?!;\n)[^])*?\)\s*\.(?:rejects|resolves)\b.*$/gm;
    const faults = ["src", "tests", "bench"].flatMap((folder) =>
      sourceFiles(folder).flatMap(({ path, text }) =>
        [...text.matchAll(assertion)].map(([found]) => `${path}: ${found.trim()}`),
      ),
    );
    expect(faults).toEqual([]);
  });

  test("every source file begins with a comment that says what it is for", () => {
    const paths = [
      ...filesBelow("src", ".ts"),
      ...filesBelow("src", ".tsx"),
      ...filesBelow("tests", ".ts"),
      ...filesBelow("scripts", ".mjs"),
    ];
    const without = paths.filter((path) => !/^(#!.*\n)?\/\/ [A-Z`].{5,}/.test(textOf(path)));
    expect(without).toEqual([]);
  });

  test("every migration begins with a comment, and its number is the next one", () => {
    const paths = filesBelow("migrations", ".sql");
    expect(paths.filter((path) => !textOf(path).startsWith("-- "))).toEqual([]);
    const expected = paths.map((_, index) => String(index + 1).padStart(4, "0"));
    expect(paths.map((path) => path.slice("migrations/".length).slice(0, 4))).toEqual(expected);
  });

  test("every test is in a file whose name ends in .test.ts", () => {
    const outside = [...all, ...sourceFiles("tests")]
      .filter(({ path }) => !isTestCode(path))
      .filter(({ text }) => /^import [^;]*\b(test|it|describe)\b[^;]*from "bun:test"/m.test(text))
      .map(({ path }) => path);
    expect(outside).toEqual([]);
  });
});

describe("the reader of imports", () => {
  test("finds every form of import", () => {
    const text = `
      import one from "one";
      import { two, type Two } from "../two.ts";
      import type { Three } from "./three.ts";
      import { type Four, type FourToo } from "./four.ts";
      import * as five from "five";
      import "./six.ts";
      export { seven } from "./seven.ts";
      export type { Eight } from "./eight.ts";
      export * from "./nine.ts";
      const ten = await import("./ten.ts");
      import {
        eleven,
      } from "./eleven.ts";
    `;
    const found = read(text).map(({ specifier, isTypeOnly }) =>
      isTypeOnly ? `type ${specifier}` : specifier,
    );
    expect(found).toEqual([
      "one",
      "../two.ts",
      "type ./three.ts",
      "type ./four.ts",
      "five",
      "./six.ts",
      "./seven.ts",
      "type ./eight.ts",
      "./nine.ts",
      "./ten.ts",
      "./eleven.ts",
    ]);
  });

  test("passes over comments and other exports", () => {
    const text = `
      // import { a } from "./a.ts";
      /* import { b } from "./b.ts"; */
      export const url = "https://example.com/from";
      export function f() { return "x"; }
    `;
    expect(read(text)).toEqual([]);
  });

  test("resolves paths below the checkout", () => {
    expect(read(`import { a } from "../lib/a.ts";`)[0]?.target).toBe("src/lib/a.ts");
  });

  test("a forbidden import is named with the file, the import and the rule", () => {
    expect(faultsIn("src/lib/here.ts", `import { app } from "../api/app.ts";`)).toEqual([
      "src/lib/here.ts imports ../api/app.ts, but lib may import: nothing of ours",
    ]);
  });

  test("types may be imported where only types are allowed, and nothing else", () => {
    const from = `from "../resources/caches/schema.ts";`;
    expect(faultsIn("src/sdk/here.ts", `import type { A } ${from}`)).toEqual([]);
    expect(faultsIn("src/sdk/here.ts", `import { A } ${from}`)).toHaveLength(1);
    expect(faultsIn("src/engines/here.ts", `import type { A } from "../drivers/driver.ts";`)).toEqual([]);
    expect(faultsIn("src/engines/here.ts", `import { A } from "../drivers/driver.ts";`)).toHaveLength(1);
    expect(faultsIn("src/resources/a/here.ts", `import { B } from "../b/index.ts";`)).toEqual([]);
    expect(faultsIn("src/resources/a/here.ts", `import { B } from "../b/store.ts";`)).toHaveLength(1);
  });

  test("a room that imports back up is named, and a room that imports down or itself is not", () => {
    const up = `import { Instance } from "../instance/instance.ts";`;
    expect(faultsIn("src/host/engine/here.ts", up)).toHaveLength(1);
    expect(faultsIn("src/host/host.ts", up.replace("../", "./"))).toEqual([]);
    expect(faultsIn("src/host/instance/here.ts", up)).toEqual([]);
  });
});

function read(text: string): Import[] {
  return importsOf("src/api/here.ts", text);
}

function faultsIn(path: string, text: string): string[] {
  const file = { path, text, imports: importsOf(path, text) };
  return [...partRules.faultsOf(file), ...roomRules.faultsOf(file)];
}

function textOf(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}

/** `@scope/name/file` and `name/file` are files of packages. */
function packageOf(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

type Graph = Map<string, Set<string>>;

/** Which part or room imports which others. */
function graphOf(files: SourceFile[], nameOf: (path: string) => string): Graph {
  const graph: Graph = new Map();
  for (const { path, imports } of files) {
    const from = nameOf(path);
    const targets = graph.get(from) ?? new Set();
    graph.set(from, targets);
    for (const { target } of imports) {
      if (target?.startsWith("src/") === true && nameOf(target) !== from) targets.add(nameOf(target));
    }
  }
  return graph;
}

/** Rounds such as `a > b > a`, each once for every part in it. */
function cycles(graph: Graph): string[] {
  return [...graph.keys()].flatMap((start) => {
    const round = wayBack(graph, start, start, []);
    return round === undefined ? [] : [[...round, start].join(" > ")];
  });
}

function wayBack(
  graph: Graph,
  start: string,
  at: string,
  way: string[],
  seen = new Set<string>(),
): string[] | undefined {
  seen.add(at);
  for (const next of graph.get(at) ?? []) {
    if (next === start) return [...way, at];
    const found = seen.has(next) ? undefined : wayBack(graph, start, next, [...way, at], seen);
    if (found !== undefined) return found;
  }
  return undefined;
}
