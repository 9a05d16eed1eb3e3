// Reads the Markdown of the checkout for the tests of the documentation.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { filesBelow, ROOT } from "./source.ts";

/** Paths of all Markdown files of the documentation, relative to the checkout. */
export function markdownFiles(): string[] {
  const own = readdirSync(ROOT).filter((name) => name.endsWith(".md"));
  return [...own, ...filesBelow("docs", ".md"), "src/sdk/README.md"];
}

export function markdown(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}

/** The text without blocks of code. */
export function prose(path: string): string {
  return markdown(path).replaceAll(/^```[\s\S]*?^```$/gm, "");
}

/** The cells of the table rows that begin with a setting in backticks, by that setting. */
export function settingRows(path: string): Map<string, string[]> {
  const rows = [...markdown(path).matchAll(/^\| *`(PILVI_[A-Z0-9_]+)` *\|(.*)\|$/gm)];
  return new Map(rows.map(([, name = "", rest = ""]) => [name, rest.split("|").map((cell) => cell.trim())]));
}

/** The cells of the rows of the first table below a heading, without its head. */
export function tableRows(path: string, heading: string): string[][] {
  const [, below = ""] = markdown(path).split(`\n${heading}\n`);
  const [, rows = ""] = /^\|.*\n\|[-|]+\n((?:\|.*\n)+)/m.exec(below) ?? [];
  return rows
    .trimEnd()
    .split("\n")
    .map((row) =>
      row
        .slice(1, -1)
        .split("|")
        .map((cell) => cell.trim()),
    );
}

/** The commands of the tour: the blocks that the comment `<!-- tour -->` stands right before. */
export function tourBlocks(path: string): string[] {
  const blocks = markdown(path).matchAll(/^<!-- tour -->\n+```bash\n([\s\S]*?)^```$/gm);
  return [...blocks].map(([, commands = ""]) => commands);
}

/** The anchors that headings of a file get. */
export function anchors(path: string): Set<string> {
  const headings = prose(path).matchAll(/^#+ +(.+)$/gm);
  return new Set(
    [...headings].map(([, title = ""]) =>
      title
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}
