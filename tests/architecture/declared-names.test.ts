// Checks that what ARCHITECTURE.md says to be in a file is declared there.
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { prose } from "./markdown.ts";
import { ROOT } from "./source.ts";

/** "`Name` (`src/path.ts`", "`Name.member` in `src/path.ts`", and two names with one file. */
const PLACED = /(?:`(\w+)` and )?`([\w.]+)` (?:\(|in )`(src\/[\w./-]+\.tsx?)`/g;

/** A name of another program, such as the `mysql_native_password` of MySQL. */
const FOREIGN = /^[a-z]+(?:_[a-z]+)+$/;

interface PlacedName {
  name: string;
  path: string;
}

/** The names that a text says to be in a file; of a member, the name of the member. */
function placedNames(text: string): PlacedName[] {
  return [...text.replaceAll(/\s+/g, " ").matchAll(PLACED)].flatMap(
    ([, other, qualified = "", path = ""]) => {
      const names = other === undefined ? [qualified] : [other, qualified];
      return names
        .map((name) => ({ name: name.replace(/^.*\./, ""), path }))
        .filter(({ name }) => !FOREIGN.test(name));
    },
  );
}

/** Whether a text declares a name: as a function, class, type, constant, or a member of one of them. */
function declares(text: string, name: string): boolean {
  const statement = String.raw`\b(?:function\*?|class|const|let|interface|type)\s+${name}\b`;
  const member = String.raw`^\s+(?:(?:static|private|readonly|async|get)\s+)*#?${name}\??\s*[(<:=]`;
  return new RegExp(`${statement}|${member}`, "m").test(text);
}

describe("names with their files in ARCHITECTURE.md", () => {
  test("are declared in these files", () => {
    const placed = placedNames(prose("ARCHITECTURE.md"));
    expect(placed.length).toBeGreaterThan(100);
    const faults = placed
      .filter(({ name, path }) => !declares(readFileSync(join(ROOT, path), "utf8"), name))
      .map(({ name, path }) => `${path} does not declare \`${name}\``);
    expect(faults).toEqual([]);
  });

  test("are found across lines, in both forms, two at a time", () => {
    const path = "src/here.ts";
    expect(placedNames("`One` (`src/here.ts`), `two.three`\n  in `src/here.ts`")).toEqual([
      { name: "One", path },
      { name: "three", path },
    ]);
    expect(placedNames("`four` and `five` in `src/here.ts`")).toEqual([
      { name: "four", path },
      { name: "five", path },
    ]);
    expect(placedNames("`src/here.ts` and `six` in `migrations/0001.sql`")).toEqual([]);
    expect(placedNames("`their_name` in `src/here.ts`")).toEqual([]);
  });

  test("are not declared by an import or a call", () => {
    const text = 'import { seven } from "./seven.ts";\nseven();\n';
    expect(declares(text, "seven")).toBe(false);
    expect(declares("export function seven() {}", "seven")).toBe(true);
    expect(declares("interface Eight {\n  seven?(): void;\n}", "seven")).toBe(true);
  });
});
