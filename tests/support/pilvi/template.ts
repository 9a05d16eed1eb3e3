// A data directory after a first start, of which the Pilvis of a test run are copies: a first start builds a store and
// issues certificates, which takes the processor from all other tests. `PILVI_TEST_TEMPLATE` names it.
import { readdirSync } from "node:fs";

/** What every start makes anew. */
const MADE_ANEW = new Set(["console", "log", "program", "run"]);

/** Settings whose Pilvi has no store or key in its data directory. */
const ELSEWHERE = ["PILVI_DATABASE_URL", "PILVI_KEY_FILE"];

/** Copies the template into an empty data directory; without a template the next start is a first start. */
export function copyTemplate(dataDir: string, env: Record<string, string>): void {
  const template = process.env.PILVI_TEST_TEMPLATE;
  if (template === undefined || ELSEWHERE.some((name) => name in env)) return;
  const parts = readdirSync(template).filter((name) => !MADE_ANEW.has(name) && !name.endsWith(".lock"));
  // Keeps the users that the files belong to, unlike `cpSync`.
  const copied = Bun.spawnSync(["cp", "-a", "--", ...parts, dataDir], { cwd: template });
  if (copied.exitCode !== 0) throw new Error(`the template cannot be copied: ${copied.stderr}`);
}
