// Checks at the start of Pilvi which engines are installed. A separate process installs the missing engines.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../config.ts";
import { missingEngines } from "../../engines/install/index.ts";
import { findEngines, usableEngines } from "../../engines/installed.ts";
import { STORE_ENGINE } from "../../engines/registry.ts";
import { verdictOn } from "../../engines/safety/verdict.ts";
import { newestOfEachMajor } from "../../host/engine/context.ts";
import { CHECKOUT_DIR } from "../program/checkout.ts";
import { refuseClosed } from "./closed-folder.ts";

/**
 * Installs missing engines. An engine that the last start could not install is not tried again, since that may take
 * minutes.
 * @param stop aborts a running installation at once.
 * @returns false when Pilvi cannot run for the lack of a Postgres; the installation has said why.
 * @throws Refusal when the users that engines run as could not reach the engines.
 */
export async function ensureEngines(
  config: Config,
  stop: AbortSignal,
  notice: (text: string) => void,
): Promise<boolean> {
  const { enginesDir, dataDir } = config;
  refuseClosed("the engines in", enginesDir, "PILVI_ENGINES_DIR");
  const noteFile = join(dataDir, "missing-engines");
  const missing = await missingEngines({ enginesDir, checkoutDir: CHECKOUT_DIR });
  if (missing.length === 0) return true;
  if ((await hasOwnPostgres(config)) && missing.join() === noted(noteFile)) {
    notice(`Not installed: ${missing.join(", ")}. Try again with: pilvi engines install`);
    return true;
  }
  await install(config, stop);
  if (stop.aborted) return true;
  const stillMissing = await missingEngines({ enginesDir, checkoutDir: CHECKOUT_DIR });
  if (stillMissing.length === 0) rmSync(noteFile, { force: true });
  else writeFileSync(noteFile, stillMissing.join());
  return config.databaseUrl !== undefined || (await hasOwnPostgres(config));
}

/** Prints a notice about engines in use that lack security fixes, or may lack them. */
export async function warnOfUnsafeEngines(
  { enginesDir }: Config,
  notice: (text: string) => void,
): Promise<void> {
  const engines = newestOfEachMajor(await usableEngines(enginesDir));
  const namesOf = (areUnsafe: boolean) =>
    engines
      .filter((engine) => verdictOn(engine).warning !== null && verdictOn(engine).isUnsafe === areUnsafe)
      .map(({ name, version }) => `${name} ${version}`)
      .join(", ");
  const [lacking, unsure] = [namesOf(true), namesOf(false)];
  const sentences = [
    ...(lacking === "" ? [] : [`These engines lack security fixes: ${lacking}.`]),
    ...(unsure === ""
      ? []
      : [`These engines lack security fixes unless the distribution has patched them: ${unsure}.`]),
  ];
  if (sentences.length > 0) notice([...sentences, "`pilvi doctor` says more."].join(" "));
}

/** Pilvi keeps its own data in a Postgres that no upgrade of the system takes away. */
async function hasOwnPostgres({ enginesDir }: Config): Promise<boolean> {
  const engines = await findEngines(enginesDir);
  return engines.some(({ name, origin }) => name === STORE_ENGINE && origin === "store");
}

/** A process of its own can be ended at any moment, together with all the programs that it has started. */
async function install({ dataDir }: Config, stop: AbortSignal): Promise<void> {
  if (stop.aborted) return;
  const child = Bun.spawn([process.execPath, Bun.main, "engines", "install"], {
    env: { ...process.env, PILVI_DATA_DIR: dataDir },
    detached: true,
    stdio: ["ignore", "inherit", "inherit"],
    ipc() {},
  });
  const end = () => child.disconnect();
  stop.addEventListener("abort", end);
  await child.exited;
  stop.removeEventListener("abort", end);
}

function noted(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
