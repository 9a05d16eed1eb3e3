// A large log keeps its end, and a small log is left alone.
import { expect, test } from "bun:test";
import {
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  appendFileSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { trimLog } from "./trim-log.ts";

test("a log of many gigabytes is emptied, and no more than its end is kept", () => {
  const folder = mkdtempSync(join(tmpdir(), "pilvi-trim-"));
  try {
    const path = join(folder, "engine.log");
    writeFileSync(path, "the beginning");
    trimLog(path);
    expect(readFileSync(path, "utf8")).toBe("the beginning");
    // Sparse, so it takes no room on the disk.
    truncateSync(path, 20 * 1024 ** 3);
    appendFileSync(path, "the end");
    trimLog(path);
    expect(statSync(path).size).toBe(0);
    const kept = readFileSync(`${path}.1`);
    expect(kept.length).toBe(16 * 1024 ** 2);
    expect(kept.toString("utf8").endsWith("the end")).toBe(true);
    expect(statSync(`${path}.1`).mode).toBe(statSync(path).mode);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
