// Which IP addresses are in the public internet, so that a customer's URL cannot make this machine call its neighbours
// or itself.
import { BlockList, isIPv4, isIPv6 } from "node:net";
import { carriedAddress } from "../../lib/carried-address.ts";
import { isOwnAddress } from "../../lib/own-address.ts";

/** The IPv4 networks that are not public: https://www.iana.org/assignments/iana-ipv4-special-registry and multicast. */
const PRIVATE_V4: [network: string, bits: number][] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
];

/**
 * Only 2000::/3 of IPv6 is allocated; in it these networks are not public: IETF protocols with Teredo, and
 * documentation.
 */
const GIVEN_OUT_V6: [network: string, bits: number] = ["2000::", 3];
const PRIVATE_V6: [network: string, bits: number][] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["3fff::", 20],
];

const privateV4 = listOf(PRIVATE_V4, "ipv4");
const privateV6 = listOf(PRIVATE_V6, "ipv6");
const givenOutV6 = listOf([GIVEN_OUT_V6], "ipv6");

/** Applications that this machine serves get their own webhooks at these ports, which are open to everybody anyway. */
const WEB_PORTS = new Set([80, 443]);

/**
 * Whether webhooks may reach an address: it is public, and leads to no other service of this machine than the web. An
 * address that carries an IPv4 address (mapped, NAT64, 6to4) is as public as that.
 * @param address an IP address as text; any other text is not public.
 * @param machine the addresses of this machine, for tests.
 */
export function isPublicAddress(address: string, port: number, machine?: string[]): boolean {
  return isInInternet(address) && !isOwnAddress(address, WEB_PORTS.has(port) ? [] : machine);
}

function isInInternet(address: string): boolean {
  if (isIPv4(address)) return !privateV4.check(address, "ipv4");
  // An address with a zone, as in `fe80::1%eth0`, belongs to a link of this machine.
  if (!isIPv6(address) || address.includes("%")) return false;
  const carried = carriedAddress(address);
  if (carried !== null) return !privateV4.check(carried, "ipv4");
  return givenOutV6.check(address, "ipv6") && !privateV6.check(address, "ipv6");
}

function listOf(networks: [network: string, bits: number][], family: "ipv4" | "ipv6"): BlockList {
  const list = new BlockList();
  for (const [network, bits] of networks) list.addSubnet(network, bits, family);
  return list;
}
