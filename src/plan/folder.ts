// A folder of a source with the texts that a plan reads, so that detection is plain code without waiting.
import { byteSizeText } from "../lib/byte-size.ts";
import { SourceFault } from "./faults.ts";
import { SOURCE_BOUNDS, type SourceEntry, type SourceFiles } from "./source-files.ts";

/** Modules of Python with an application object, as people name them; the first that has it counts. */
export const PYTHON_MODULES = [
  "main.py",
  "app.py",
  "wsgi.py",
  "asgi.py",
  "server.py",
  "app/main.py",
  "src/main.py",
  "app/__init__.py",
] as const;

/** Files that a plan reads where they exist, relative to a folder. */
const WANTED = [
  "railpack.json",
  "Procfile",
  "package.json",
  ".nvmrc",
  ".node-version",
  ".bun-version",
  ".python-version",
  ".tool-versions",
  "runtime.txt",
  "composer.json",
  "bootstrap/app.php",
  "deno.json",
  "deno.jsonc",
  "main.ts",
  "server.ts",
  "mod.ts",
  "src/main.ts",
  "main.js",
  "server.js",
  "pyproject.toml",
  "requirements.txt",
  "Pipfile",
  "angular.json",
  ...PYTHON_MODULES,
] as const;

/** Settings of frameworks; each exists with several endings. */
const CONFIGS =
  /^(?:next|nuxt|astro|svelte|vite|react-router|remix|gatsby|docusaurus)\.config\.(?:js|mjs|cjs|ts|mts)$/;

/** Lock files of which a plan reads the version. */
const LOCKS = ["pnpm-lock.yaml", "yarn.lock"] as const;

/** Hints only: such a file counts as empty when it is too large to be read. */
const HINTS = new Set([
  "bootstrap/app.php",
  "main.ts",
  "server.ts",
  "mod.ts",
  "src/main.ts",
  "main.js",
  "server.js",
]);

/** Packages of Python; of so many, the beginnings are read as hints. */
const [PYTHON_PACKAGE, MAX_PYTHON_PACKAGES] = [/^[A-Za-z_]\w{0,60}\/__init__\.py$/, 10];

/** A folder of a source. */
export class Folder {
  /** Relative to the top of the source; empty for the top itself. */
  readonly path: string;
  readonly #kinds: Map<string, SourceEntry>;
  readonly #folders: Set<string>;
  readonly #texts: Map<string, Uint8Array>;

  private constructor(
    path: string,
    kinds: Map<string, SourceEntry>,
    folders: Set<string>,
    texts: Map<string, Uint8Array>,
  ) {
    this.path = path;
    this.#kinds = kinds;
    this.#folders = folders;
    this.#texts = texts;
  }

  /** Lists the folder and reads the files that a plan looks at. */
  static async open(source: SourceFiles, path: string): Promise<Folder> {
    const prefix = path === "" ? "" : `${path}/`;
    const kinds = new Map<string, SourceEntry>();
    const folders = new Set<string>();
    for (const entry of source.entries) {
      if (!entry.path.startsWith(prefix)) continue;
      const name = entry.path.slice(prefix.length);
      kinds.set(name, entry);
      for (let at = name.indexOf("/"); at >= 0; at = name.indexOf("/", at + 1))
        folders.add(name.slice(0, at));
    }
    const isReadable = (most: number) => (name: string) => {
      const entry = kinds.get(name);
      return entry?.kind === "file" && entry.bytes <= most;
    };
    const texted = [...WANTED, ...[...kinds.keys()].filter((name) => CONFIGS.test(name))];
    const names = [
      ...texted.filter(isReadable(SOURCE_BOUNDS.file)),
      ...LOCKS.filter(isReadable(SOURCE_BOUNDS.lock)),
      ...[...kinds.keys()]
        .filter((name) => PYTHON_PACKAGE.test(name))
        .filter(isReadable(SOURCE_BOUNDS.file))
        .sort()
        .slice(0, MAX_PYTHON_PACKAGES),
    ];
    const contents = await source.read(names.map((name) => prefix + name));
    const texts = new Map(
      names.flatMap((name) => {
        const content = contents.get(prefix + name);
        return content === undefined ? [] : [[name, content] as const];
      }),
    );
    return new Folder(path, kinds, folders, texts);
  }

  get isEmpty(): boolean {
    return this.#kinds.size === 0;
  }

  /** The path of a name in this folder, relative to the top of the source. */
  pathOf(name: string): string {
    return this.path === "" ? name : `${this.path}/${name}`;
  }

  /** Whether there is a file of that name, be it a link. */
  has(name: string): boolean {
    const kind = this.#kinds.get(name)?.kind;
    return kind === "file" || kind === "link";
  }

  hasFolder(name: string): boolean {
    return this.#folders.has(name);
  }

  /** Names of files whose whole path in the folder matches. */
  matching(pattern: RegExp): string[] {
    return [...this.#kinds.values()]
      .filter(({ kind }) => kind === "file")
      .map(({ path }) => this.#nameOf(path))
      .filter((name) => pattern.test(name))
      .sort();
  }

  /** The first of the names that exists. */
  firstOf(...names: string[]): string | undefined {
    return names.find((name) => this.has(name));
  }

  /**
   * The text of a file; undefined when there is none.
   * @throws SourceFault when it is a link, too large, or no UTF-8.
   */
  text(name: string): string | undefined {
    const entry = this.#kinds.get(name);
    if (entry === undefined || entry.kind === "submodule") return undefined;
    if (entry.kind === "link")
      throw new SourceFault(entry.path, "is a link; Pilvi reads only regular files.");
    const content = this.#texts.get(name);
    if (content !== undefined) return decoded(entry.path, content);
    if (HINTS.has(name)) return "";
    if (entry.bytes > SOURCE_BOUNDS.file) {
      const [size, most] = [entry.bytes, SOURCE_BOUNDS.file].map(byteSizeText);
      throw new SourceFault(entry.path, `has ${size}; Pilvi reads at most ${most}.`);
    }
    return undefined;
  }

  /** The packages of Python at the top of the folder, with their beginnings. */
  get pythonPackages(): [file: string, code: string][] {
    return [...this.#texts]
      .filter(([name]) => PYTHON_PACKAGE.test(name))
      .map(([name, content]) => [name, new TextDecoder().decode(content)]);
  }

  /** The id of the content of a regular file; undefined without such a file. Files of any size have an id. */
  objectOf(name: string): string | undefined {
    const entry = this.#kinds.get(name);
    return entry?.kind === "file" ? entry.object : undefined;
  }

  /** The text of a lock file; empty without a readable one. */
  lockText(name: (typeof LOCKS)[number]): string {
    return new TextDecoder().decode(this.#texts.get(name));
  }

  /** The settings of a framework, such as `next.config.mjs`; empty without a readable file. */
  configText(framework: string): string {
    const [name] = [...this.#texts.keys()].filter((each) => each.startsWith(`${framework}.config.`)).sort();
    return name === undefined ? "" : withoutComments(this.text(name) ?? "");
  }

  #nameOf(path: string): string {
    return this.path === "" ? path : path.slice(this.path.length + 1);
  }
}

/**
 * The texts and comments of a script. What nothing ends goes on to the end of its line or of the script: a search for its
 * end would begin anew at each further sign, which takes minutes in a hostile script.
 */
const TEXTS_AND_COMMENTS =
  /("(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?|`(?:[^`\\]|\\[\s\S])*`?)|\/\*[\s\S]*?(?:\*\/|$)|\/\/.*/g;

/** A setting in a comment is none, and a text such as a pattern of paths begins no comment. */
function withoutComments(script: string): string {
  return script.replaceAll(TEXTS_AND_COMMENTS, (_, text: string | undefined) => text ?? "");
}

/** @throws SourceFault with the first byte that is no UTF-8. */
function decoded(path: string, content: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(content);
  } catch (error) {
    throw new SourceFault(path, `is no UTF-8 text: ${badByteText(content)}.`, error);
  }
}

/** The first byte that no UTF-8 text can have there: the end of the shortest beginning that is refused. */
function badByteText(content: Uint8Array): string {
  let [good, bad] = [0, content.length + 1];
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    if (isBeginningOfText(content.subarray(0, middle))) good = middle;
    else bad = middle;
  }
  return bad > content.length ? "its end is cut off" : `byte ${bad}`;
}

function isBeginningOfText(content: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(content, { stream: true });
    return true;
  } catch {
    return false;
  }
}
