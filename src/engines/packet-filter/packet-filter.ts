// The kernel's packet filter, by which customers' processes reach nothing of this machine but what they may. Finds out by
// trying whether this machine allows it.
import { installTools } from "../tools/install.ts";
import { findTool } from "../tools/tools.ts";
import { wholeScript } from "./ruleset.ts";

/** Runs scripts of nft, each as one transaction. */
export interface PacketFilter {
  /** @throws Error with the words of nft when the kernel refuses the script; nothing has changed then. */
  run(script: string): Promise<void>;
}

const TIMEOUT_MS = 10_000;

/** The packet filter of this machine; null where there is none that this process may use. */
export async function findPacketFilter(enginesDir: string): Promise<PacketFilter | null> {
  const tool = process.getuid?.() === 0 ? findTool("nftables", enginesDir) : null;
  if (tool === null) return null;
  const filter = (words: string[]): PacketFilter => ({
    run: (script) => runNft([tool.program, ...words, "-f", "-"], tool.env, script),
  });
  // The kernel checks the whole transaction, and takes none of it.
  const isAllowed = await filter(["--check"])
    .run(wholeScript(TRIAL))
    .then(
      () => true,
      () => false,
    );
  return isAllowed ? filter([]) : null;
}

/** As `findPacketFilter`, after an attempt to install nft where it is missing. */
export async function ensurePacketFilter(enginesDir: string): Promise<PacketFilter | null> {
  if (process.getuid?.() === 0 && findTool("nftables", enginesDir) === null)
    await installTools(["nftables"], enginesDir, () => undefined).catch(() => []);
  return await findPacketFilter(enginesDir);
}

/** A sentence for operators. */
export function networkSentence(hasFilter: boolean, enginesDir: string): string {
  if (hasFilter)
    return "applications and builds reach only what is attached to them on this machine, and clients elsewhere reach them through the edge alone (nftables)";
  const sentence =
    "applications and builds reach every port of this machine, and clients elsewhere reach what listens at all addresses";
  if (process.getuid?.() !== 0) return `${sentence}: an ordinary user may not set network rules`;
  return findTool("nftables", enginesDir) === null
    ? `${sentence}: nft is missing`
    : `${sentence}: the kernel does not take Pilvi's network rules`;
}

/** Uses every rule and every set. */
const TRIAL = {
  table: "pilvi_trial",
  reserved: [{ first: 20_000, last: 29_999 }],
  uids: [30_005],
  reached: [[30_005, 20_000]] as const,
  owned: [[30_005, 20_001]] as const,
  open: [80],
};

async function runNft(words: string[], env: Record<string, string>, script: string): Promise<void> {
  const child = Bun.spawn(words, {
    cwd: "/",
    env,
    stdio: [Buffer.from(script), "ignore", "pipe"],
    timeout: TIMEOUT_MS,
  });
  const [errors, code] = await Promise.all([new Response(child.stderr).text(), child.exited]);
  if (code !== 0) throw new Error(`nft ended with ${code}: ${errors.slice(0, 1_000)}`);
}
