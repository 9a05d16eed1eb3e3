// Versions of the interfaces between processes of Pilvi. Processes of different releases may meet, and then exchange
// nothing else.
import * as z from "zod/mini";
import { ContractError, readJsonAs } from "./read.ts";

/** The interface of the host for the control plane. Its paths begin with the version, so no other version has them. */
const HOST_API = "/v6";

/** The interface of the keeper for the host. */
const KEEPER_API = "/v2";

/** The link between the host and the gateway. */
export const GATEWAY_LINK_VERSION = 3;

/**
 * The passing of the sockets of addresses: between the host and the gateway, and between the host and `pilvi up`. A
 * message is lines of `+name` and `-name`, with a descriptor for each `+`. To `pilvi up` the host passes descriptors of
 * its engines' processes as well.
 */
export const ADDRESS_PASSING_VERSION = 2;

/** The interface of a realtime server for the host, and the file that the server is started with. */
export const REALTIME_VERSION = 3;
const REALTIME_API = `/v${REALTIME_VERSION}` as const;

/** How long to wait before the next attempt at a peer of another version, which must be restarted first. */
export const MISMATCH_RETRY_MS = 1_000;

/** Two processes speak different versions. */
export class VersionMismatch extends ContractError {
  override name = "VersionMismatch";
}

/** The first line of each side of a link; every version understands it, whatever other members it has. */
const helloSchema = z.looseObject({ type: z.literal("hello"), version: z.int() });

/** The first line of a link that is one JSON object a line. */
export function helloLine(version: number): string {
  return `${JSON.stringify({ type: "hello", version })}\n`;
}

/**
 * Reads the first line of the other side.
 * @param peer its name, as the subject of a sentence.
 * @throws VersionMismatch when the peer speaks another version, or is of a release without versions.
 */
export function checkHello(line: string, version: number, peer: string): void {
  const theirs = versionIn(line);
  if (theirs === version) return;
  const spoken = theirs === null ? "no version" : `version ${theirs}`;
  throw new VersionMismatch(
    `${peer} speaks ${spoken} of the link and this process version ${version}: start both from the same Pilvi.`,
  );
}

function versionIn(line: string): number | null {
  try {
    return readJsonAs(helloSchema, line, "The greeting").version;
  } catch {
    // Any other line, such as the first line of a release without versions.
    return null;
  }
}

/** A path of the host's interface, in this version. */
export function hostPath<Path extends string>(path: Path): `${typeof HOST_API}${Path}` {
  return `${HOST_API}${path}`;
}

/** A path of the keeper's interface, in this version. */
export function keeperPath<Path extends string>(path: Path): `${typeof KEEPER_API}${Path}` {
  return `${KEEPER_API}${path}`;
}

/** A path of a realtime server's interface, in this version. */
export function realtimePath<Path extends string>(path: Path): `${typeof REALTIME_API}${Path}` {
  return `${REALTIME_API}${path}`;
}

/**
 * The answer for a path that a server does not have, which only another version asks for: 404, with a sentence that
 * says so.
 * @param server its name, as the subject of a sentence.
 * @param complain called with that sentence the first time.
 */
export function refuseOtherVersions(server: string, complain: (message: string) => void): () => Response {
  const message = `${server} was asked in another version than its own: start both sides from the same Pilvi.`;
  let isReported = false;
  return () => {
    if (!isReported) complain(message);
    isReported = true;
    return Response.json({ message }, { status: 404 });
  };
}

/** @throws VersionMismatch when a server has no such path. @param server its name, as the subject of a sentence. */
export function checkPath({ status }: Response, server: string): void {
  if (status !== 404) return;
  throw new VersionMismatch(
    `${server} is of another version than what asks it: start both from the same Pilvi.`,
  );
}
