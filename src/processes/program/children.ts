// The four processes of a Pilvi, as children of the process that starts and stops them.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../config.ts";
import { engineEndsFile } from "../../host/os/layout.ts";
import { AddressKeeper } from "./address-keeper.ts";
import { Child } from "./child.ts";
import { EndWatch } from "./end-watch.ts";
import type { Program } from "./program.ts";
import { complain } from "./terminal.ts";

/** The processes of a Pilvi. */
export type Children = Record<"host" | "keeper" | "gateway" | "control", Child>;

/** The processes, none of which is started. @param settings take the place of those in the environment. */
export function makeChildren(
  config: Config,
  program: Program,
  settings: Record<string, string> = {},
): Children {
  const logDir = join(config.dataDir, "log");
  mkdirSync(logDir, { recursive: true, mode: 0o700 });
  const env = { ...process.env, PILVI_DATA_DIR: config.dataDir, ...settings };
  const shared = { program, env, logDir, notice: complain };
  const addresses = new AddressKeeper(new EndWatch(engineEndsFile(config.dataDir), complain), complain);
  return {
    host: new Child({ ...shared, name: "host", keeper: addresses }),
    keeper: new Child({ ...shared, name: "keeper" }),
    gateway: new Child({ ...shared, name: "gateway" }),
    control: new Child({ ...shared, name: "control" }),
  };
}

/**
 * The control plane still has its store while it ends, and no client waits for an engine that is being stopped. The
 * keeper ends last, since it ships the logs of engines that have stopped.
 */
export async function stopAll({ host, keeper, gateway, control }: Children): Promise<void> {
  for (const child of [control, gateway, host, keeper]) await child.stop();
}
