// Reads the source as text for the tests of its structure: files, their imports, and the folders of ARCHITECTURE.md.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

export const ROOT = resolve(import.meta.dir, "../..");

/** One `import` or `export … from` of a file. */
export interface Import {
  /** What stands in quotes. */
  specifier: string;
  /** The file below the checkout that is meant, or undefined for a package. */
  target: string | undefined;
  /** Whether nothing but types is imported. */
  isTypeOnly: boolean;
}

/** A source file by its path below the checkout, such as `src/lib/ids.ts`. */
export interface SourceFile {
  path: string;
  text: string;
  imports: Import[];
}

/** Paths of all files below a folder, relative to the checkout, in order; dependencies are passed over. */
export function filesBelow(folder: string, ending: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    .filter((path) => !path.includes("node_modules/"))
    .sort();
}

/** All TypeScript files below a folder, with their imports. */
export function sourceFiles(folder: string): SourceFile[] {
  return [...filesBelow(folder, ".ts"), ...filesBelow(folder, ".tsx")].sort().map((path) => {
    const text = readFileSync(join(ROOT, path), "utf8");
    return { path, text, imports: importsOf(path, text) };
  });
}

const CLAUSE = String.raw`(?:import|export)\s+(?<type>type\s+)?(?<names>[\w$\s{},*]+?)\s*from\s*"(?<from>[^"]+)"`;
const SIDE_EFFECT = String.raw`import\s*"(?<effect>[^"]+)"`;
const DYNAMIC = String.raw`import\(\s*"(?<dynamic>[^"]+)"`;
const IMPORT = new RegExp(String.raw`(?<![\w.$-])(?:${CLAUSE}|${SIDE_EFFECT}|${DYNAMIC})`, "g");

/** Every import of a TypeScript text, types and dynamic ones too. */
export function importsOf(path: string, text: string): Import[] {
  return [...withoutComments(text).matchAll(IMPORT)].map(({ groups = {} }) => {
    const specifier = groups.from ?? groups.effect ?? groups.dynamic ?? "";
    return {
      specifier,
      target: specifier.startsWith(".") ? relative(ROOT, join(ROOT, dirname(path), specifier)) : undefined,
      isTypeOnly: groups.type !== undefined || hasOnlyTypes(groups.names ?? ""),
    };
  });
}

/** `{ type A, type B }`: every name is a type. */
function hasOnlyTypes(names: string): boolean {
  const [, inner] = /^\{([^}]*)\}$/.exec(names.trim()) ?? [];
  if (inner === undefined) return false;
  const members = inner
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  return members.length > 0 && members.every((name) => name.startsWith("type "));
}

/** Comments that begin a line or follow a space; enough for text in which they could look like an import. */
function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\//g, "").replaceAll(/(^|\s)\/\/.*$/gm, "$1");
}
