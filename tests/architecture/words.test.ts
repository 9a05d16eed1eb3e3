// Refuses the words that docs/glossary.md refuses, in the source and in the names of tests.
import { describe, expect, test } from "bun:test";
import { tableRows } from "./markdown.ts";
import { sourceFiles } from "./source.ts";

const HEADING = "## Words that are refused";

interface Refused {
  word: string;
  pattern: RegExp;
  instead: string;
}

const refused: Refused[] = tableRows("docs/glossary.md", HEADING).flatMap(([cell = "", instead = ""]) =>
  cell.split(", ").map((quoted) => {
    const word = quoted.replaceAll("`", "");
    return { word, instead, pattern: new RegExp(`\\b${word.replaceAll("*", "\\w*")}\\b`, "i") };
  }),
);

const tests = /\b(?:test|describe)(?:\.\w+)*(?:\([^()]*\))?\(\s*(?:"([^"]*)"|`([^`]*)`)/g;

/** Formats of released manifests, whose members keep their names. */
const FORMER_FORMATS = /^src\/contracts\/manifest-format-\d+\.ts$/;

/** The words of a line or a name that are refused, as sentences; the parts of a name are words as well. */
function faultsIn(where: string, text: string): string[] {
  const parts = withSpaces(text);
  return refused
    .filter(({ pattern }) => pattern.test(text) || pattern.test(parts))
    .map(({ word, instead }) => `${where} says \`${word}\`; docs/glossary.md says: ${instead}`);
}

function namesOf(text: string): string[] {
  return [...text.matchAll(tests)].map(([, plain, template]) => plain ?? template ?? "");
}

/** Names such as `untilDone`, `HTTPServer` and `MAX_BYTES` with their parts as words. */
function withSpaces(text: string): string {
  return text.replaceAll("_", " ").replaceAll(/([a-z\d])([A-Z])|([A-Z])([A-Z][a-z])/g, "$1$3 $2$4");
}

/** Code and comments; what stands in quotes may be the words of an engine or of a customer. */
function withoutStrings(line: string): string {
  return line.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""');
}

describe("words that the glossary refuses", () => {
  test("the glossary lists them", () => {
    expect(refused.length).toBeGreaterThan(10);
    expect(refused.filter(({ word, instead }) => word === "" || instead === "")).toEqual([]);
  });

  test("no source file uses a refused word", () => {
    const faults = sourceFiles("src")
      .filter(({ path }) => !FORMER_FORMATS.test(path))
      .flatMap(({ path, text }) =>
        text.split("\n").flatMap((line, at) => faultsIn(`${path}:${at + 1}`, withoutStrings(line))),
      );
    expect(faults).toEqual([]);
  });

  test("no name of a test has a refused word", () => {
    const faults = [...sourceFiles("src"), ...sourceFiles("tests")].flatMap(({ path, text }) =>
      namesOf(text).flatMap((name) => faultsIn(`${path} "${name}"`, name)),
    );
    expect(faults).toEqual([]);
  });

  test("a refused word is found in a comment, a name and a test's name, and named with the word to use", () => {
    expect(faultsIn("here", "// The last Sighting of it.")).toEqual([
      "here says `sighting*`; docs/glossary.md says: observed state",
    ]);
    expect(faultsIn("here", "const walkers = 1;")).toHaveLength(1);
    for (const name of ["lastSightingMs", "LAST_SIGHTING", "DBSightings"])
      expect(faultsIn("here", name)).toHaveLength(1);
    expect(faultsIn("here", "// A sight.")).toEqual([]);
    expect(namesOf('test.each(KINDS)("a name", () => {});\ndescribe(`another`, () => {})')).toEqual([
      "a name",
      "another",
    ]);
  });
});
