// The rules of imports as the tables of ARCHITECTURE.md have them: what each part of `src/` and each room of a part may import.
import { tableRows } from "./markdown.ts";
import type { Import, SourceFile } from "./source.ts";

const EVERYTHING = "everything";

/** The pages that the kinds bring to the console. */
const KIND_PAGES = "resources/*/console";

/** What a rule lets in: whatever has a path that matches, or its types alone. */
interface Permission {
  pattern: RegExp;
  isTypeOnly: boolean;
}

interface Rule {
  text: string;
  allowsAll: boolean;
  permissions: Permission[];
}

/**
 * The part of `src/` that a file belongs to: `api`, `resources/caches`, `resources/kind.ts`, `config.ts`. The pages of
 * all kinds are one part, since they run in browsers, and so are the parts that pages are made of.
 */
export function partOf(path: string): string {
  const [, first = "", second = "", third = ""] = path.split("/");
  if (first === "resources" && third === "console") return KIND_PAGES;
  if (first === "console" && second === "parts") return "console/parts";
  return first === "resources" ? `resources/${second}` : first;
}

/** Whether a part is one of the slices, which all have the same rule. */
export function isSlice(part: string): boolean {
  return (
    part.startsWith("resources/") &&
    !part.endsWith(".ts") &&
    part !== "resources/shared" &&
    part !== KIND_PAGES
  );
}

/** `lib` is the whole folder, `drivers/driver.ts` one file, and `*` any name of a folder or a prefix of a file's. */
function permissionOf(item: string): Permission {
  const [, path = ""] = /`([^`]+)`/.exec(item) ?? [];
  const pattern = path
    .replaceAll(".", "\\.")
    .replaceAll("*/schema\\.ts", "[^/]+/(\\w+-)?schema\\.ts")
    .replaceAll("*", "[^/]+");
  return { pattern: new RegExp(`^src/${pattern}(/|$)`), isTypeOnly: item.startsWith("types of ") };
}

class Rules {
  readonly #rules: Map<string, Rule>;
  readonly #nameOf: (path: string) => string;
  readonly #isJudged: (from: string, to: string) => boolean;

  /** @param isJudged whether an import of one path by another is the business of this table. */
  constructor(
    heading: string,
    nameOf: (path: string) => string,
    isJudged: (from: string, to: string) => boolean = () => true,
  ) {
    this.#nameOf = nameOf;
    this.#isJudged = isJudged;
    this.#rules = new Map(
      tableRows("ARCHITECTURE.md", heading).map(([name = "", , text = ""]) => [
        name.replaceAll("`", ""),
        {
          text,
          allowsAll: text === EVERYTHING,
          permissions: text
            .split(", ")
            .filter((item) => item.includes("`"))
            .map(permissionOf),
        },
      ]),
    );
  }

  get names(): string[] {
    return [...this.#rules.keys()];
  }

  #ruleOf(name: string): Rule | undefined {
    return this.#rules.get(isSlice(name) ? "resources/*" : name);
  }

  /** Names of parts or rooms of these files that have no row. */
  without(files: SourceFile[]): string[] {
    const names = new Set(files.map(({ path }) => this.#nameOf(path)));
    return [...names].filter((name) => this.#ruleOf(name) === undefined);
  }

  /** What is wrong with the imports of a file below `src/`, as sentences. */
  faultsOf({ path, imports }: SourceFile): string[] {
    const from = this.#nameOf(path);
    return imports.flatMap((each) => {
      const { specifier, target } = each;
      if (target === undefined || !target.startsWith("src/") || this.#isAllowed(path, target, each))
        return [];
      const kind = each.isTypeOnly ? "types of " : "";
      return [
        `${path} imports ${kind}${specifier}, but ${from} may import: ${this.#ruleOf(from)?.text ?? "nothing"}`,
      ];
    });
  }

  #isAllowed(path: string, target: string, { isTypeOnly }: Import): boolean {
    const from = this.#nameOf(path);
    if (from === this.#nameOf(target) || !this.#isJudged(path, target)) return true;
    const rule = this.#ruleOf(from);
    if (rule === undefined) return false;
    return (
      rule.allowsAll ||
      rule.permissions.some((each) => each.pattern.test(target) && (isTypeOnly || !each.isTypeOnly))
    );
  }

  /** Rows that may import a row below them, or themselves. */
  backwards(): string[] {
    return this.names.flatMap((name, at) => {
      const { permissions = [] } = this.#rules.get(name) ?? {};
      const below = this.names
        .slice(at)
        .filter((other) => permissions.some(({ pattern }) => pattern.test(`src/${other}`)));
      return below.map((other) => `${name} may import ${other}, which does not stand above it`);
    });
  }
}

/** The room of a file: the folder below its part, or the file itself where it stands in no folder. */
function roomOf(path: string): string {
  return path.split("/").slice(1, 3).join("/");
}

export const partRules = new Rules("## Folders", partOf);

class RoomRules extends Rules {
  readonly #divided: Set<string>;

  constructor() {
    super("### Rooms", roomOf, (from, to) => this.isDivided(from) && partOf(from) === partOf(to));
    this.#divided = new Set(this.names.map((name) => name.split("/")[0] ?? ""));
  }

  /** Whether a file belongs to a part that is divided into rooms. */
  isDivided(path: string): boolean {
    return this.#divided.has(partOf(path));
  }

  /** The room of a file of a divided part. */
  nameOf(path: string): string | undefined {
    return this.isDivided(path) ? roomOf(path) : undefined;
  }
}

export const roomRules = new RoomRules();
