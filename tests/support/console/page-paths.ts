// The addresses of all pages of the console, as its sources declare them.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";

const ROOT = resolve(import.meta.dir, "../../..");
const SOURCES = ["src/console/pages/**/index.ts", "src/resources/*/console/index.ts"];

/** The paths in order, such as `/caches/$id`. */
export function pagePaths(): string[] {
  const files = SOURCES.flatMap((pattern) => Array.from(new Bun.Glob(pattern).scanSync({ cwd: ROOT })));
  const texts = files.map((file) => readFileSync(resolve(ROOT, file), "utf8"));
  const paths = texts.flatMap((text) =>
    [...text.matchAll(/definePage\(\{\s*path: "([^"]+)"/g)].map(([, path = ""]) => path),
  );
  return paths.sort();
}
