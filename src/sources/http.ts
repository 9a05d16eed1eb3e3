// How git reaches a repository over HTTP: one checked machine, no redirects, and a login that only its server is sent.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isOwnAddress } from "../lib/own-address.ts";
import { shellWord } from "../lib/shell-word.ts";
import type { RepositoryAddress } from "./address.ts";
import { SourceRefusal, shown } from "./faults.ts";

/** A user name and a password, which may be a token. */
export interface Login {
  username: string;
  password: string;
}

interface HttpConnection {
  address: RepositoryAddress;
  /** The checked address of the host. */
  machine: string;
  login: Login | null;
  /** A folder for the login, which is deleted after the fetch. */
  keys: string;
}

/**
 * The settings that have git use the login. It is in a file, since other users of the machine see the arguments of a
 * process, and programs that git starts see its variables.
 * @throws SourceRefusal when the login would be sent in clear to another machine.
 */
export async function httpSettings(connection: HttpConnection): Promise<Record<string, string>> {
  const { address, machine, login, keys } = connection;
  if (!address.protocol.startsWith("http")) return {};
  if (login !== null && address.protocol === "http" && !isOwnAddress(machine)) {
    throw new SourceRefusal("A password is not sent to another machine in clear. Use an https:// address.");
  }
  const path = join(keys, "login");
  if (login !== null) await writeFile(path, loginLine(address, login), { mode: 0o600, flag: "wx" });
  return {
    ...(login !== null && { "credential.helper": `store --file=${shellWord(path)}` }),
    "http.curloptResolve": `${address.host}:${address.port}:${machine}`,
    // Another machine would not have been checked, and must not get the login.
    "http.followRedirects": "false",
    // A server that sends next to nothing would hold the fetch until its deadline.
    "http.lowSpeedLimit": "100",
    "http.lowSpeedTime": "60",
    "http.proxy": "",
  };
}

/** The texts by which a message may have the login in it. */
export function secretsOf(login: Login | null): string[] {
  if (login === null) return [];
  const { username, password } = login;
  const basic = Buffer.from(`${username}:${password}`).toString("base64");
  return [password, encodeURIComponent(password), basic];
}

/** Why the server gave nothing, as a sentence; null when git's own words say it. */
export function httpReason(
  messages: string,
  { host }: RepositoryAddress,
  login: Login | null,
): string | null {
  if (/^fatal: (?:Authentication failed|could not read (?:Username|Password))/m.test(messages)) {
    return login === null
      ? `${shown(host)} asks for a password. Give the application the repository_username and repository_password of somebody who may read there.`
      : `${shown(host)} refused the user name and the password of the application. Give it a new repository_password.`;
  }
  if (!/returned error: 30[12378]$/m.test(messages)) return null;
  return `${shown(host)} leads to another address, which is not followed. Give the application that address.`;
}

/** Git gives a login to the server of its line alone, and takes the text between the slashes as the server's name. */
function loginLine({ url, protocol }: RepositoryAddress, { username, password }: Login): string {
  const server = /^\w+:\/\/(?:[^/@]*@)?([^/?#]*)/.exec(url)?.[1] ?? "";
  return `${protocol}://${encodeURIComponent(username)}:${encodeURIComponent(password)}@${server}\n`;
}
