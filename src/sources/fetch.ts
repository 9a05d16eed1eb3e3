// Fetches a branch of a foreign repository with git's own client.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { shellWord } from "../lib/shell-word.ts";
import { machineOf, repositoryAddress, type RepositoryAddress } from "./address.ts";
import type { SourceLimits } from "./bounds.ts";
import { SourceRefusal } from "./faults.ts";
import { type GitOptions, GitProcess, type GitProgram } from "./git.ts";

/** Where a branch is fetched from. */
export interface FetchSource {
  url: string;
  branch: string;
  /** A private key in OpenSSH's form, for ssh. */
  deployKey: string | null;
  /** Whether the address may lead to the machine of Pilvi itself. */
  mayReachItself?: boolean;
  deadlineMs?: number;
}

const DEADLINE_MS = 5 * 60_000;
const WHAT = "The repository could not be fetched";
const MAX_KEY_LENGTH = 20_000;
const SSH = "/usr/bin/ssh";
const PRIVATE_KEY =
  /^-----BEGIN (OPENSSH|RSA|EC) PRIVATE KEY-----\n[\w+/=\n]+-----END \1 PRIVATE KEY-----\n$/;

/** @throws SourceRefusal when the address is refused, the deadline passes, or git fails. */
export async function fetchBranch(
  git: GitProgram,
  source: FetchSource,
  ref: string,
  limits: SourceLimits,
  options: GitOptions,
): Promise<void> {
  const address = repositoryAddress(source.url);
  const machine = await machineOf(address, source.mayReachItself ?? false);
  const keys = await mkdtemp(join(options.repository, "keys-"));
  try {
    const run = new GitProcess(
      git,
      [
        "fetch",
        "--quiet",
        "--depth=1",
        "--no-tags",
        "--no-recurse-submodules",
        "--no-write-fetch-head",
        "--force",
        "--end-of-options",
        urlOf(address, machine),
        `+refs/heads/${source.branch}:${ref}`,
      ],
      {
        ...options,
        deadlineMs: source.deadlineMs ?? DEADLINE_MS,
        maxFileBytes: limits.transferBytes,
        // A single pack is a single file, which has a bound.
        settings: { ...httpSettings(address, machine), "fetch.unpackLimit": "1" },
        env: {
          GIT_ALLOW_PROTOCOL: address.protocol,
          ...(address.protocol === "ssh" &&
            (await sshVariables(source, address, machine, keys, options.repository))),
        },
      },
    );
    void run.child.stdin.end();
    await Promise.all([new Response(run.child.stdout).text(), run.succeeded(WHAT)]);
  } finally {
    await rm(keys, { recursive: true, force: true });
  }
}

/** Git's own protocol has neither certificates nor keys, so the machine may stand in the place of its name. */
function urlOf({ url, protocol, host }: RepositoryAddress, machine: string): string {
  if (protocol !== "git" || host === machine) return url;
  const parsed = new URL(url);
  return `git://${machine.includes(":") ? `[${machine}]` : machine}${parsed.port === "" ? "" : `:${parsed.port}`}${parsed.pathname}`;
}

function httpSettings({ host, port, protocol }: RepositoryAddress, machine: string): Record<string, string> {
  if (!protocol.startsWith("http")) return {};
  return {
    "http.curloptResolve": `${host}:${port}:${machine}`,
    // Another machine would not have been checked.
    "http.followRedirects": "false",
    // A server that sends next to nothing would hold the fetch until its deadline.
    "http.lowSpeedLimit": "100",
    "http.lowSpeedTime": "60",
    "http.proxy": "",
  };
}

/** The first key of a machine is believed and kept; another key later is refused. */
async function sshVariables(
  { deployKey }: FetchSource,
  { host }: RepositoryAddress,
  machine: string,
  keys: string,
  repository: string,
): Promise<Record<string, string>> {
  if (!existsSync(SSH)) {
    throw new SourceRefusal(
      "Addresses for ssh need OpenSSH, and the machine of Pilvi has none; use an https:// address.",
    );
  }
  const key = join(keys, "key");
  if (deployKey !== null) await writeFile(key, checkedKey(deployKey), { mode: 0o600 });
  const words = [
    SSH,
    "-F",
    "/dev/null",
    "-a",
    "-x",
    "-T",
    "BatchMode=yes",
    "IdentitiesOnly=yes",
    "IdentityAgent=none",
    "ConnectTimeout=20",
    "ForwardAgent=no",
    "StrictHostKeyChecking=accept-new",
    `UserKnownHostsFile=${join(repository, "known_hosts")}`,
    "GlobalKnownHostsFile=/dev/null",
    `HostName=${machine}`,
    `HostKeyAlias=${host}`,
    ...(deployKey === null ? ["IdentityFile=none"] : [`IdentityFile=${key}`]),
  ].map((word) => (word.includes("=") ? `-o ${shellWord(word)}` : shellWord(word)));
  // Git gives the command to a shell; a data directory may have a space in its path.
  return { GIT_SSH_COMMAND: words.join(" "), GIT_SSH_VARIANT: "ssh" };
}

/** @throws SourceRefusal when the text is no private key without a passphrase. */
function checkedKey(text: string): string {
  const key = `${text.replaceAll("\r\n", "\n").trim()}\n`;
  if (key.length <= MAX_KEY_LENGTH && PRIVATE_KEY.test(key)) return key;
  throw new SourceRefusal("The deploy key is no private key as ssh-keygen writes it.");
}
