// Decides whether a webhook's URL may be called, and to which addresses a connection may go.
import { lookup as systemLookup } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";
import { isPublicAddress } from "./addresses.ts";

type Addresses = { address: string; family: number }[];

/** Resolves to all addresses of a host name; rejects when there is no address. */
export type Resolve = (hostname: string) => Promise<Addresses>;

/** The address may not be called, now or later. */
export class ForbiddenAddress extends Error {}

/** Why a URL may not be called at all, or null; `checkedLookup` judges names. */
export function refusalOf(target: URL | null, allowPrivate: boolean): string | null {
  if (target === null) return "The URL cannot be read.";
  if (target.protocol !== "http:" && target.protocol !== "https:") return "The URL is not http or https.";
  if (target.username !== "" || target.password !== "") return "The URL has a user name or password.";
  const host = hostOf(target);
  if (!allowPrivate && isIP(host) !== 0 && !isPublicAddress(host, portOf(target)))
    return "The address is not public, or is this machine's own.";
  return null;
}

/** The name or address to connect to, an IPv6 address without brackets. */
export function hostOf(target: URL): string {
  return target.hostname.startsWith("[") ? target.hostname.slice(1, -1) : target.hostname;
}

/** The port to connect to. */
export function portOf({ port, protocol }: URL): number {
  if (port !== "") return Number(port);
  return protocol === "https:" ? 443 : 80;
}

/**
 * A look-up for a `request` to a URL, which connects to the result and resolves nothing else. Fails with
 * `ForbiddenAddress` when any of the addresses is not public: a name that has both kinds is a trick or a mistake.
 */
export function checkedLookup(
  target: URL,
  allowPrivate: boolean,
  resolve: Resolve = resolveAll,
): LookupFunction {
  const isAllowed = (address: string) => allowPrivate || isPublicAddress(address, portOf(target));
  return async (hostname, { all }, callback) => {
    const found = await addressesOf(hostname, isAllowed, resolve);
    if (found instanceof Error) callback(found, "", 0);
    else if (all) callback(null, found);
    else callback(null, found[0]?.address ?? "", found[0]?.family ?? 0);
  };
}

async function addressesOf(
  name: string,
  isAllowed: (address: string) => boolean,
  resolve: Resolve,
): Promise<Addresses | Error> {
  try {
    const found = await resolve(name);
    if (found.length === 0) return new Error("The name has no address.");
    if (found.every(({ address }) => isAllowed(address))) return found;
    return new ForbiddenAddress(
      "The name resolves to an address that is not public, or is this machine's own.",
    );
  } catch (error) {
    return error as Error;
  }
}

function resolveAll(hostname: string): Promise<Addresses> {
  return systemLookup(hostname, { all: true });
}
