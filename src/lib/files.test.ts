// Files that are replaced, and the content that is left when that fails.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { keepFile, keptPath, replaceFile } from "./files.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "pilvi-files-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const KIBIBYTES = 8;

/** Replaces the file in a process whose files may not grow beyond a limit, as on a disk that is nearly full. */
async function replaceBeyondLimit(path: string, bytes: number): Promise<{ code: number; said: string }> {
  const script = `
    const { replaceFile } = await import(${JSON.stringify(join(import.meta.dir, "files.ts"))});
    replaceFile(${JSON.stringify(path)}, "x".repeat(${bytes}), 0o600);`;
  const limited = `trap '' XFSZ; ulimit -f ${KIBIBYTES}; exec "$@"`;
  const child = Bun.spawn(["bash", "-c", limited, "bash", process.execPath, "--eval", script], {
    env: { ...process.env, BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0" },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const said = await new Response(child.stderr).text();
  return { code: await child.exited, said };
}

test("a file that does not fit on the disk leaves the former file, and no part of itself", async () => {
  const path = join(folder, "manifest.json");
  writeFileSync(path, "former");
  const { code, said } = await replaceBeyondLimit(path, 2 * KIBIBYTES * 1024);
  expect([code, said]).toEqual([1, expect.stringContaining("EFBIG")]);
  expect(readFileSync(path, "utf8")).toBe("former");
  expect(readdirSync(folder)).toEqual(["manifest.json"]);
});

test("a file that fits on the disk is replaced", async () => {
  const path = join(folder, "manifest.json");
  const { code } = await replaceBeyondLimit(path, KIBIBYTES * 1024);
  expect(code).toBe(0);
  expect(readFileSync(path, "utf8")).toHaveLength(KIBIBYTES * 1024);
});

test("a kept file outlasts a later replacement, and a replacement during the keeping is kept instead", async () => {
  const path = join(folder, "kept.json");
  replaceFile(path, "first", 0o600);
  await keepFile(path);
  replaceFile(path, "second", 0o600);
  expect(readFileSync(keptPath(path), "utf8")).toBe("first");
  const kept = keepFile(path);
  replaceFile(path, "third", 0o600);
  await kept;
  expect(readFileSync(keptPath(path), "utf8")).toBe("third");
  expect(readFileSync(path, "utf8")).toBe("third");
});
