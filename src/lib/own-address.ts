// The addresses behind which no other machine is: where customers choose an address, it must not be one of these.
import { BlockList, isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { carriedAddress } from "./carried-address.ts";

/** This machine itself, and the addresses at which clouds give out the secrets of a machine. */
const OWN = new BlockList();
OWN.addSubnet("0.0.0.0", 8);
OWN.addSubnet("127.0.0.0", 8);
OWN.addSubnet("169.254.0.0", 16);
OWN.addAddress("100.100.100.200");
OWN.addAddress("168.63.129.16");
OWN.addSubnet("224.0.0.0", 3);
OWN.addAddress("::", "ipv6");
OWN.addAddress("::1", "ipv6");
OWN.addAddress("fd00:ec2::254", "ipv6");
OWN.addAddress("fd20:ce::254", "ipv6");
OWN.addSubnet("fe80::", 10, "ipv6");
OWN.addSubnet("ff00::", 8, "ipv6");

/**
 * Whether an address is one of this machine, so that no other machine reads what is sent there. An address that carries
 * an IPv4 address leads to that.
 * @param address an IP address as text.
 * @param machine the addresses of the machine, which may change while Pilvi runs.
 */
export function isOwnAddress(address: string, machine = addressesOfMachine()): boolean {
  const plain = carriedAddress(address) ?? address;
  const family = familyOf(plain);
  if (OWN.check(plain, family)) return true;
  const list = new BlockList();
  for (const each of machine) list.addAddress(each, familyOf(each));
  return list.check(plain, family);
}

function addressesOfMachine(): string[] {
  return Object.values(networkInterfaces()).flatMap((each = []) => each.map(({ address }) => address));
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIP(address) === 6 ? "ipv6" : "ipv4";
}
