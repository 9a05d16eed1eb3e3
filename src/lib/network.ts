// The network that an address belongs to when connections are counted.

const GROUPS = 8;
const GROUPS_OF_A_NETWORK = 4;

/**
 * An IPv4 address is a network of its own. Of an IPv6 address the network is the first half, since one customer has the
 * whole rest.
 * @param address in text, without brackets.
 */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!address.includes(":")) return address;
  const [head = "", tail] = address.split("::");
  const [before, after] = [groupsOf(head), groupsOf(tail ?? "")];
  const zeros = Array<string>(Math.max(0, GROUPS - before.length - after.length)).fill("0");
  return [...before, ...zeros, ...after].slice(0, GROUPS_OF_A_NETWORK).join(":");
}

function groupsOf(text: string): string[] {
  return text === "" ? [] : text.split(":");
}
