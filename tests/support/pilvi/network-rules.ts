// The rules of the packet filter outlive a host that a test kills, and every packet of the machine passes through them.
import { loadConfig } from "../../../src/config.ts";
import { findTool } from "../../../src/engines/tools/tools.ts";
import { tableOf } from "../../../src/host/os/network-rules.ts";

/** Removes the rules of the Pilvi in a data directory, which may have none. */
export async function removeNetworkRules(dataDir: string): Promise<void> {
  const nft = process.getuid?.() === 0 ? findTool("nftables", loadConfig(process.env).enginesDir) : null;
  if (nft === null) return;
  const words = [nft.program, "delete", "table", "inet", tableOf(dataDir)];
  await Bun.spawn(words, { env: nft.env, stdio: ["ignore", "ignore", "ignore"] }).exited;
}
