// The file package.json, as far as a plan reads it.
import * as z from "zod/mini";
import type { Folder } from "../folder.ts";
import { readJson } from "../json.ts";

const text = z.string().check(z.maxLength(10_000));
const texts = z.optional(z.record(z.string(), z.unknown()));

const packageSchema = z.object({
  main: z.optional(text),
  type: z.optional(text),
  packageManager: z.optional(text),
  engines: z.optional(z.object({ node: z.optional(text), bun: z.optional(text), deno: z.optional(text) })),
  volta: z.optional(z.object({ node: z.optional(text) })),
  scripts: texts,
  dependencies: texts,
  devDependencies: texts,
  optionalDependencies: texts,
  workspaces: z.optional(z.unknown()),
});

/** A version of a runtime, and the member that asks for it. */
export interface NamedVersion {
  range: string;
  member: string;
}

/** package.json of a folder. Names such as `__proto__` are names like all others. */
export class PackageJson {
  readonly main: string | undefined;
  readonly packageManager: string | undefined;
  readonly #versions: Map<"node" | "bun", NamedVersion>;
  readonly hasWorkspaces: boolean;
  readonly #scripts: Map<string, string>;
  readonly #dependencies: Set<string>;

  private constructor(content: z.infer<typeof packageSchema>) {
    this.main = content.main;
    this.packageManager = content.packageManager;
    const { engines, volta } = content;
    const versions = [
      ["node", engines?.node, "engines.node"],
      ["bun", engines?.bun, "engines.bun"],
      ...(engines?.node === undefined ? [["node", volta?.node, "volta.node"] as const] : []),
    ] as const;
    this.#versions = new Map(
      versions.flatMap(([name, range, member]) => (range === undefined ? [] : [[name, { range, member }]])),
    );
    this.hasWorkspaces = content.workspaces !== undefined;
    const { dependencies = {}, devDependencies = {}, optionalDependencies = {} } = content;
    this.#dependencies = new Set(
      [dependencies, devDependencies, optionalDependencies].flatMap((each) => Object.keys(each)),
    );
    this.#scripts = new Map(
      Object.entries(content.scripts ?? {}).filter((entry): entry is [string, string] => {
        const [, script] = entry;
        return typeof script === "string" && script.trim() !== "";
      }),
    );
  }

  /** @throws SourceFault when it is malformed; undefined when there is none. */
  static read(folder: Folder): PackageJson | undefined {
    const content = folder.text("package.json");
    if (content === undefined) return undefined;
    return new PackageJson(readJson(packageSchema, "package.json", content));
  }

  /** That at the top of a monorepo, which may speak for all its folders. @throws SourceFault when it is malformed. */
  static ofTop([, top]: readonly Folder[]): PackageJson | undefined {
    return top && PackageJson.read(top);
  }

  /** Of a program that has no package.json. */
  static empty(): PackageJson {
    return new PackageJson({});
  }

  /** The version of a runtime that it asks for. */
  versionOf(name: "node" | "bun"): NamedVersion | undefined {
    return this.#versions.get(name);
  }

  script(name: string): string | undefined {
    return this.#scripts.get(name);
  }

  dependsOn(...names: string[]): boolean {
    return names.some((name) => this.#dependencies.has(name));
  }

  get hasDependencies(): boolean {
    return this.#dependencies.size > 0;
  }

  /** Whether an installation without dependencies would still do something. */
  get hasInstallScripts(): boolean {
    return ["preinstall", "install", "postinstall", "prepare"].some((name) => this.#scripts.has(name));
  }
}
