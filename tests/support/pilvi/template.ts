// A data directory after a first start, of which the Pilvis of a test run are copies: a first start builds a store and
// issues certificates, which takes the processor from all other tests. `PILVI_TEST_TEMPLATE` names it.
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmdirSync } from "node:fs";
import { join } from "node:path";

/** The part of the template with the programs and first data of Postgres servers; see `makePostgresTemplate`. */
export const POSTGRES_TEMPLATE = "test-postgres";

/** What every start makes anew, what is copied where it is needed, and what is no part of a data directory. */
const LEFT_OUT = new Set(["console", "log", "program", "run", "slots", POSTGRES_TEMPLATE]);

/** The engines whose first data the template has, in the folder of the warm slots. */
export const TEMPLATE_ENGINES = ["mariadb", "postgres"] as const;

/** Settings whose Pilvi has no store or key in its data directory. */
const ELSEWHERE = ["PILVI_DATABASE_URL", "PILVI_KEY_FILE"];

/** Copies the template into an empty data directory; without a template the next start is a first start. */
export function copyTemplate(dataDir: string, env: Record<string, string>): void {
  const template = process.env.PILVI_TEST_TEMPLATE;
  if (template === undefined || ELSEWHERE.some((name) => name in env)) return;
  const parts = readdirSync(template).filter((name) => !LEFT_OUT.has(name) && !name.endsWith(".lock"));
  copy(template, parts, dataDir);
}

/**
 * Gives a running Pilvi the template's first data of an engine as a warm slot, so that it need not build such data, but
 * only once: two clusters of a Pilvi never have the same identity.
 */
export function giveSlot(dataDir: string, engine: (typeof TEMPLATE_ENGINES)[number]): void {
  const template = process.env.PILVI_TEST_TEMPLATE;
  if (template === undefined) return;
  for (const slots of slotsOf(template, engine)) {
    const target = join(dataDir, "slots", slots);
    const [slot] = readdirSync(join(template, "slots", slots));
    if (existsSync(target) || slot === undefined) continue;
    mkdirSync(target);
    chmodSync(target, 0o711);
    // The host may take a slot as soon as it is there.
    const aside = mkdtempSync(join(dataDir, "slot-"));
    copy(join(template, "slots", slots), [slot], aside);
    renameSync(join(aside, slot), join(target, slot));
    rmdirSync(aside);
  }
}

/** The names of the folders with slots of an engine, of one version and recipe each. */
export function slotsOf(dataDir: string, engine: string): string[] {
  return readdirSync(join(dataDir, "slots")).filter((name) => name.startsWith(`${engine}-`));
}

/** Keeps the users that the files belong to, unlike `cpSync`. */
export function copy(folder: string, names: string[], target: string): void {
  const copied = Bun.spawnSync(["cp", "-a", "--", ...names, target], { cwd: folder });
  if (copied.exitCode !== 0) throw new Error(`the template cannot be copied: ${copied.stderr}`);
}
