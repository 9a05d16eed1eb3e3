// An address of this machine that is not loopback, as clients of other machines have one.
import { networkInterfaces } from "node:os";
import { runProgram } from "../clients/programs.ts";

/** Out of a range that is meant for documentation (RFC 5737), so nobody has it. */
const LENT = "198.51.100.7";

export interface OwnAddress {
  address: string;
  /** Gives back one that was lent to the machine. */
  release(): Promise<unknown>;
}

/** An IPv4 address of a network card; of a machine without one, an address that it is lent, for which it takes root. */
export async function ownAddress(): Promise<OwnAddress> {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const found = all.find(({ family, internal }) => family === "IPv4" && !internal);
  if (found !== undefined) return { address: found.address, release: () => Promise.resolve() };
  await runProgram(["ip", "addr", "add", `${LENT}/32`, "dev", "lo"]);
  return { address: LENT, release: () => runProgram(["ip", "addr", "del", `${LENT}/32`, "dev", "lo"]) };
}
