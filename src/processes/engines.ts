// The commands about what Pilvi runs on: `pilvi engines install` and `pilvi doctor`.
import { dirname } from "node:path";
import type { Config } from "../config.ts";
import { type EngineReport, installEngines } from "../engines/install/index.ts";
import { checkEngines } from "./doctor/engines.ts";
import type { Finding } from "./doctor/finding.ts";
import { checkMachine } from "./doctor/machine.ts";
import { checkNetwork } from "./doctor/network.ts";

/** The root folder of the source, whose `node_modules` carries Postgres. */
const CHECKOUT_DIR = dirname(dirname(import.meta.dirname));

/**
 * Installs the engines that are missing and prints what became of each one. Quiet when nothing was missing.
 * @returns the exit code: 1 when one could not be installed.
 * @throws Refusal when there is no Postgres for the control plane.
 */
export async function installCommand(config: Config): Promise<number> {
  const report = await installEngines({
    enginesDir: config.enginesDir,
    checkoutDir: CHECKOUT_DIR,
    progress: (line) => console.log(line),
  });
  if (report.some(({ state }) => state !== "present")) {
    for (const engine of report) console.log(lineOf(engine));
  }
  return report.some(({ state }) => state === "failed") ? 1 : 0;
}

/**
 * Looks at everything that Pilvi relies on and prints a line about each thing, with what to do where something is amiss.
 * @returns the exit code: 1 when something keeps Pilvi from working.
 */
export async function doctorCommand(config: Config): Promise<number> {
  const findings = [
    ...checkMachine(config),
    ...(await checkEngines(config, CHECKOUT_DIR)),
    ...(await checkNetwork(config)),
  ];
  for (const finding of findings) console.log(textOf(finding));
  return findings.some(({ level }) => level === "fail") ? 1 : 0;
}

function lineOf({ name, state, version = "-", reason, hint }: EngineReport): string {
  const line = [name.padEnd(10), version.padEnd(12), state].join(" ");
  if (reason === undefined) return line;
  return `${line}: ${reason}${hint === undefined ? "" : ` Try: ${hint}`}`;
}

function textOf({ level, text, advice }: Finding): string {
  const line = `${level.padEnd(5)} ${text}`;
  return advice === undefined ? line : `${line}\n      ${advice}`;
}
