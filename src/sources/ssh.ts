// How git reaches a repository over SSH: with one key, with the host key of the first fetch, and with nothing of the
// machine's or a user's own.
import { existsSync, readFileSync } from "node:fs";
import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sha256Hex } from "../lib/secrets.ts";
import { shellWord } from "../lib/shell-word.ts";
import type { RepositoryAddress } from "./address.ts";
import { SourceRefusal, shown } from "./faults.ts";

const SSH = "/usr/bin/ssh";
/** Runs a program as a user that every machine knows. */
const AS_ROOT_OF_ITS_OWN = "/usr/bin/unshare --user --map-root-user --";

const MAX_KEY_LENGTH = 20_000;
const PRIVATE_KEY =
  /^-----BEGIN (OPENSSH|RSA|EC) PRIVATE KEY-----\n[\w+/=\n]+-----END \1 PRIVATE KEY-----\n$/;

/** The beginning of the names of files with host keys. */
const KNOWN_HOSTS = "known_hosts";

/** The same for every fetch. */
const OPTIONS = [
  "AddKeysToAgent=no",
  "BatchMode=yes",
  "CheckHostIP=no",
  "ClearAllForwardings=yes",
  "ConnectTimeout=20",
  "ControlMaster=no",
  "ControlPath=none",
  "ForwardAgent=no",
  "GlobalKnownHostsFile=/dev/null",
  "IdentitiesOnly=yes",
  "IdentityAgent=none",
  "LogLevel=ERROR",
  "PermitLocalCommand=no",
  "PreferredAuthentications=publickey",
  "ProxyCommand=none",
  "ServerAliveCountMax=3",
  "ServerAliveInterval=20",
  "StrictHostKeyChecking=accept-new",
  "UpdateHostKeys=no",
];

interface SshConnection {
  address: RepositoryAddress;
  /** The checked address of the host. */
  machine: string;
  /** A private key in OpenSSH's form. */
  deployKey: string | null;
  /** A folder for the key, which is deleted after the fetch. */
  keys: string;
  /** The bare repository, where the host key is kept. */
  repository: string;
  /** The path of ssh. */
  program?: string | undefined;
}

/**
 * The variables that have git use ssh. The first host key that is seen with a deploy key is believed and kept; another
 * is refused later.
 * @throws SourceRefusal when the machine has no ssh, or the deploy key is not a private key.
 */
export async function sshVariables(connection: SshConnection): Promise<Record<string, string>> {
  const { address, machine, deployKey, keys, repository, program = SSH } = connection;
  if (!existsSync(program)) {
    throw new SourceRefusal(
      "Addresses for ssh need OpenSSH, and the machine of Pilvi has none; `apt-get install openssh-client` installs it on Debian and Ubuntu. Or use an https:// address.",
    );
  }
  const key = join(keys, "key");
  if (deployKey !== null) await writeFile(key, checkedKey(deployKey), { mode: 0o600, flag: "wx" });
  const options = [
    ...OPTIONS,
    `UserKnownHostsFile=${optionPath(await knownHosts(repository, deployKey))}`,
    `HostName=${machine}`,
    `HostKeyAlias=${aliasOf(address)}`,
    `IdentityFile=${deployKey === null ? "none" : optionPath(key)}`,
  ].map((option) => `-o ${shellWord(option)}`);
  // Git gives the command to a shell; a data directory may have a space in its path.
  const command = [...launcher(), shellWord(program), "-F /dev/null -a -x -T", ...options].join(" ");
  return { GIT_SSH_COMMAND: command, GIT_SSH_VARIANT: "ssh" };
}

/**
 * Why ssh gave up, as a sentence; null when git's own words say it.
 * @param messages what ssh and git wrote.
 */
export function sshReason(messages: string, { host }: RepositoryAddress): string | null {
  if (/HOST IDENTIFICATION HAS CHANGED|^Host key verification failed/m.test(messages)) {
    return `the host key of ${shown(host)} is not that of the first fetch. If the host has a new key, make a new deploy key, with which the next host key is believed.`;
  }
  if (/^(?:unshare: |No user exists for uid)/m.test(messages)) {
    const uid = process.getuid?.() ?? 0;
    return `ssh needs a user with a name, and uid ${uid} has none on the machine of Pilvi. \`useradd --system --uid ${uid} --no-create-home pilvi-control\` gives it one.`;
  }
  if (/Permission denied \(/.test(messages)) {
    return `${shown(host)} refused the deploy key of the application. Add the public key in its meta.deploy_key to the repository there, for reading.`;
  }
  const own = /^(?:ssh: |ERROR: )(.*)$/m.exec(messages)?.[1]?.trim();
  if (own === undefined || own === "") return null;
  return own.endsWith(".") ? shown(own) : `${shown(own)}.`;
}

/**
 * OpenSSH refuses to run for a uid without a name, such as that of the control plane. In a user namespace the same uid is
 * shown to it as that of root, which gives it no rights.
 */
function launcher(): string[] {
  const uid = process.getuid?.();
  const isKnown = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .some((line) => line.split(":")[2] === String(uid));
  return isKnown ? [] : [AS_ROOT_OF_ITS_OWN];
}

/** Host keys of one deploy key; a new one begins anew. */
async function knownHosts(repository: string, deployKey: string | null): Promise<string> {
  const name = deployKey === null ? KNOWN_HOSTS : `${KNOWN_HOSTS}-${sha256Hex(deployKey).slice(0, 16)}`;
  const others = (await readdir(repository)).filter((each) => each.startsWith(KNOWN_HOSTS) && each !== name);
  for (const other of others) await rm(join(repository, other), { force: true });
  return join(repository, name);
}

/** Two servers of a host have host keys of their own. */
function aliasOf({ host, port }: RepositoryAddress): string {
  return port === 22 ? host : `[${host}]:${port}`;
}

/** A path within an option, where ssh gives spaces and percent signs a meaning. */
function optionPath(path: string): string {
  return `"${path.replaceAll("%", "%%").replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

/** @throws SourceRefusal when the text is no private key without a passphrase. */
function checkedKey(text: string): string {
  const key = `${text.replaceAll("\r\n", "\n").trim()}\n`;
  if (key.length <= MAX_KEY_LENGTH && PRIVATE_KEY.test(key)) return key;
  throw new SourceRefusal("The deploy key is no private key as ssh-keygen writes it.");
}
