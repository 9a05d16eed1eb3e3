// Socket addresses in the form of the kernel: ports at IP addresses, and paths.
import { isIPv6 } from "node:net";
import { AF_INET, AF_INET6, AF_UNIX } from "./socket-calls.ts";
import { socketAddress } from "./unix-socket.ts";

/** The name of a port at an IPv4 or IPv6 address. */
export function inetName(address: string, port: number): Uint8Array {
  return isIPv6(address) ? inet6(address, port) : inet(address, port);
}

/** `struct sockaddr_in`. */
export function inet(address: string, port: number): Uint8Array {
  const name = new Uint8Array(16);
  new DataView(name.buffer).setUint16(0, AF_INET, true);
  new DataView(name.buffer).setUint16(2, port);
  name.set(address.split(".").map(Number), 4);
  return name;
}

/** `struct sockaddr_in6`. */
export function inet6(address: string, port: number): Uint8Array {
  const name = new Uint8Array(28);
  const view = new DataView(name.buffer);
  view.setUint16(0, AF_INET6, true);
  view.setUint16(2, port);
  for (const [index, group] of groupsOf(address).entries()) view.setUint16(8 + index * 2, group);
  return name;
}

/** The eight groups of an IPv6 address, whose text may leave out a run of zeros. */
function groupsOf(address: string): number[] {
  const text = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = "", tail] = text.split("::");
  const [before, after] = [groupsIn(head), groupsIn(tail ?? "")];
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
}

function groupsIn(part: string): number[] {
  return part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16));
}

/** `struct sockaddr_un` of a path, which may be of any length. */
export function unixName(path: string): Uint8Array {
  const text = new TextEncoder().encode(socketAddress(path));
  const name = new Uint8Array(2 + text.length + 1);
  new DataView(name.buffer).setUint16(0, AF_UNIX, true);
  name.set(text, 2);
  return name;
}
