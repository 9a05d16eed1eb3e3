// The address of a foreign repository: which are taken, and to which machine they lead.
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { isOwnAddress } from "../lib/own-address.ts";
import { SourceRefusal, shown } from "./faults.ts";
import { withoutCredentials } from "./git.ts";

const PORTS: Record<string, number> = { "http:": 80, "https:": 443, "ssh:": 22, "git:": 9418 };

const SSH_USER = /^[\w.+~-]*$/;

/** An address that was checked. */
export interface RepositoryAddress {
  url: string;
  protocol: "http" | "https" | "ssh" | "git";
  host: string;
  port: number;
}

/**
 * Reads the address of a repository: http, https, ssh or git, or `user@host:path`.
 * @throws SourceRefusal for all else, such as files of this machine.
 */
export function repositoryAddress(text: string): RepositoryAddress {
  const fault = new SourceRefusal(
    `${shown(withoutCredentials(text))} is no address of a repository; it begins with https://, http://, ssh:// or git://, or has the form git@host:path.`,
  );
  // oxlint-disable-next-line no-control-regex -- control characters are what is refused
  if (text.length > 2_000 || /[\u0000-\u0020\u007f"'`$\\<>|^{}]/.test(text)) throw fault;
  const short = /^([\w.-]+)@([\w.-]+):(?!\/\/)([^:]+)$/.exec(text);
  const url = short === null ? text : `ssh://${short[1]}@${short[2]}/${short[3]}`;
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const port = parsed === undefined ? undefined : PORTS[parsed.protocol];
  if (parsed === undefined || port === undefined || parsed.hostname === "") throw fault;
  const host = parsed.hostname.replace(/^\[(.*)\]$/, "$1");
  // A name that begins like an option would be one for ssh.
  if (host.startsWith("-") || parsed.username.startsWith("-")) throw fault;
  // Git decodes percent signs, and ssh gets the outcome as its argument.
  if (parsed.protocol === "ssh:" && !(SSH_USER.test(parsed.username) && parsed.password === "")) throw fault;
  // Git takes all before the first slash for the name of the server, and would look that name up itself.
  if (parsed.protocol === "git:" && /[?#]/.test(url)) throw fault;
  const protocol = parsed.protocol.slice(0, -1) as RepositoryAddress["protocol"];
  // The short form has a path below the home of its user, and git takes it as it is.
  return { url: text, protocol, host, port: Number(parsed.port) || port };
}

/**
 * The machine behind an address, which git is then held to, so that the name cannot lead elsewhere a moment later.
 * @throws SourceRefusal when the name is unknown, or leads to this machine.
 */
export async function machineOf({ host }: RepositoryAddress, mayReachItself: boolean): Promise<string> {
  const found = isIP(host) === 0 ? await lookup(host, { all: true }).catch(() => []) : [{ address: host }];
  const [first] = found;
  if (first === undefined) throw new SourceRefusal(`The name ${shown(host)} is unknown.`);
  if (!mayReachItself && found.some(({ address }) => isOwnAddress(address))) {
    throw new SourceRefusal(
      `${shown(host)} leads to the machine of Pilvi itself, where nothing is fetched from.`,
    );
  }
  return first.address;
}
