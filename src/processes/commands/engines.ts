// The commands about the machine and the programs that Pilvi runs on: `pilvi engines install` and `pilvi doctor`.
import type { Config } from "../../config.ts";
import { DENO_VERSION, ensureDeno, findDeno } from "../../engines/runtimes/deno.ts";
import { DEFAULT_NODE, ensureNode, findNode } from "../../engines/runtimes/node.ts";
import { ensurePhp, findPhp, phpOfSystem } from "../../engines/runtimes/php.ts";
import { messageOf } from "../../lib/errors.ts";
import { installTools } from "../../engines/tools/install.ts";
import { installEngines } from "../../engines/install/index.ts";
import { CHECKOUT_DIR } from "../program/checkout.ts";
import { checkBackups } from "../doctor/backups.ts";
import { checkFailingBackups } from "../doctor/failing-backups.ts";
import { checkStoreBackups } from "../doctor/store-backups.ts";
import { checkEngines } from "../doctor/engines.ts";
import type { Finding } from "../doctor/finding.ts";
import { checkMachine } from "../doctor/machine.ts";
import { checkNetwork } from "../doctor/network.ts";
import { checkTls } from "../doctor/tls.ts";

/**
 * Installs missing engines and prints the result of each installation. Prints nothing when no engine was missing.
 * @returns the exit code: 1 when an engine could not be installed.
 * @throws Refusal when there is no Postgres for the control plane.
 */
export async function installCommand(config: Config): Promise<number> {
  const letGo = endWithParent();
  try {
    return await install(config);
  } finally {
    letGo();
  }
}

async function install({ enginesDir }: Config): Promise<number> {
  const startedMs = performance.now();
  let isSilent = true;
  const progress = (line: string) => {
    if (isSilent) console.log(`installing engines in ${enginesDir}`);
    isSilent = false;
    console.log(`  ${line}`);
  };
  const fetched = ensureRuntimes(enginesDir, progress);
  const report = await installEngines({ enginesDir, checkoutDir: CHECKOUT_DIR, progress });
  const failures = report.filter(({ state }) => state === "failed");
  const lacking = await installTools(["bubblewrap", "nftables", "nginx"], enginesDir, progress);
  for (const { name, reason } of lacking) progress(`${name} could not be installed: ${reason}`);
  await fetched;
  for (const { name, reason, hint } of failures) {
    progress(`${name} could not be installed: ${reason}${hint === undefined ? "" : ` Try: ${hint}`}`);
  }
  if (!isSilent) {
    const without = failures.length === 0 ? "" : `, without ${failures.map(({ name }) => name).join(", ")}`;
    console.log(`engines installed in ${((performance.now() - startedMs) / 1000).toFixed(1)} s${without}`);
  }
  return failures.length > 0 ? 1 : 0;
}

/**
 * Fetches the Node.js of most applications, so that the first deployment does not wait for it. A start of Pilvi leaves
 * the other runtimes to the deployments that need them.
 */
async function ensureRuntimes(enginesDir: string, progress: (line: string) => void): Promise<void> {
  const bun = process.execPath;
  await ensureRuntime(
    `Node.js ${DEFAULT_NODE}`,
    findNode(DEFAULT_NODE, enginesDir),
    () => ensureNode(DEFAULT_NODE, enginesDir, bun),
    progress,
  );
  if (process.send !== undefined) return;
  await ensureRuntime(
    `Deno ${DENO_VERSION}`,
    findDeno(enginesDir),
    () => ensureDeno(enginesDir, bun),
    progress,
  );
  const php = phpOfSystem();
  if (php !== null)
    await ensureRuntime(`PHP ${php}`, findPhp(enginesDir, php), () => ensurePhp(php, enginesDir), progress);
}

async function ensureRuntime(
  label: string,
  found: string | null,
  fetch: () => Promise<string>,
  progress: (line: string) => void,
): Promise<void> {
  if (found !== null) return;
  try {
    await fetch();
    progress(`${label} for applications installed`);
  } catch (error) {
    progress(`${messageOf(error)} It is fetched at the first deployment that needs it.`);
  }
}

/**
 * Ends the installation at once, with the programs that it runs, when its `pilvi up` is stopped or killed.
 * @returns a function that cancels this.
 */
function endWithParent(): () => void {
  if (process.send === undefined) return () => {};
  process.on("disconnect", killOwnGroup);
  return () => void process.off("disconnect", killOwnGroup);
}

function killOwnGroup(): void {
  process.kill(0, "SIGKILL");
}

/**
 * Checks everything that Pilvi relies on and prints a line about each thing, with the remedy where something is amiss.
 * @returns the exit code: 1 when something keeps Pilvi from working.
 */
export async function doctorCommand(config: Config): Promise<number> {
  const findings = [
    ...checkMachine(config),
    ...checkBackups(config),
    ...(await checkFailingBackups(config)),
    ...(await checkStoreBackups(config)),
    ...(await checkEngines(config, CHECKOUT_DIR)),
    ...checkTls(config),
    ...(await checkNetwork(config)),
  ];
  for (const finding of findings) console.log(textOf(finding));
  return findings.some(({ level }) => level === "fail") ? 1 : 0;
}

function textOf({ level, text, advice }: Finding): string {
  const line = `${level.padEnd(5)} ${text}`;
  return advice === undefined ? line : `${line}\n      ${advice}`;
}
