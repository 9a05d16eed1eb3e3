// A log that cannot be written.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "pilvi-log-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("a process goes on when there is no room for its log, and keeps little of it in memory", async () => {
  const script = `
    const { createLog } = await import(${JSON.stringify(join(import.meta.dir, "log.ts"))});
    const log = createLog("test", "info");
    const filled = "x".repeat(1000);
    const bytes = () => (Bun.gc(true), process.memoryUsage().rss);
    for (let line = 0; line < 1000; line += 1) log.info({ filled }, "a line");
    const before = bytes();
    for (let line = 0; line < 200_000; line += 1) log.info({ line, filled: filled + line }, "a line");
    console.log(JSON.stringify({ grownBy: bytes() - before }));`;
  const path = join(folder, "full.log");
  const limited = `trap '' XFSZ; ulimit -f 8; exec "$@" 2>${path}`;
  const child = Bun.spawn(["bash", "-c", limited, "bash", process.execPath, "--eval", script], {
    env: { ...process.env, BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0" },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const said = await new Response(child.stdout).text();
  expect(await child.exited).toBe(0);
  // The lines have more than 200 MiB.
  expect((JSON.parse(said) as { grownBy: number }).grownBy).toBeLessThan(100 * 1024 ** 2);
  expect(readFileSync(path, "utf8")).toStartWith('{"level":"info"');
});
