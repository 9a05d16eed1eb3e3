// An address of this machine that is not loopback, like the address of a client on another machine.
import { networkInterfaces } from "node:os";
import { runProgram } from "../clients/programs.ts";

/** From a range for documentation (RFC 5737), so no other machine has it. */
const LENT = "198.51.100.7";

export interface OwnAddress {
  address: string;
  /** Removes an address that was added to the machine. */
  release(): Promise<unknown>;
}

/** An IPv4 address of a network card; on a machine without a card, an address that is added to it, which takes root. */
export async function ownAddress(): Promise<OwnAddress> {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const found = all.find(({ family, internal }) => family === "IPv4" && !internal);
  if (found !== undefined) return { address: found.address, release: () => Promise.resolve() };
  await runProgram(["ip", "addr", "add", `${LENT}/32`, "dev", "lo"]);
  return { address: LENT, release: () => runProgram(["ip", "addr", "del", `${LENT}/32`, "dev", "lo"]) };
}
