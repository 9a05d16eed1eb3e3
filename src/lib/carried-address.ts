// Addresses of IPv6 that carry an address of IPv4, and lead to that.
import { BlockList, isIPv6 } from "node:net";

/** Mapped addresses, NAT64 and 6to4, and the number of the group at which the carried address begins. */
const CARRIERS: { list: BlockList; group: number }[] = [
  { list: listOf("::ffff:0:0", 96), group: 6 },
  { list: listOf("64:ff9b::", 96), group: 6 },
  { list: listOf("2002::", 16), group: 1 },
];

/** The address of IPv4 that an address carries; null when it carries none. @param address an IP address as text. */
export function carriedAddress(address: string): string | null {
  if (!isIPv6(address)) return null;
  const carrier = CARRIERS.find(({ list }) => list.check(address, "ipv6"));
  if (carrier === undefined) return null;
  const [high = 0, low = 0] = groupsOf(address).slice(carrier.group);
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

/** The eight numbers of an IPv6 address; the URL parser expands abbreviations and decimals. */
function groupsOf(address: string): number[] {
  const [head = "", tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split("::");
  const left = numbersOf(head);
  if (tail === undefined) return left;
  const right = numbersOf(tail);
  return [...left, ...Array.from({ length: 8 - left.length - right.length }, () => 0), ...right];
}

function numbersOf(groups: string): number[] {
  return groups === "" ? [] : groups.split(":").map((each) => Number.parseInt(each, 16));
}

function listOf(network: string, bits: number): BlockList {
  const list = new BlockList();
  list.addSubnet(network, bits, "ipv6");
  return list;
}
