// Finds out by trying which sandbox this machine allows: containers and distributions forbid it in many ways.
import { existsSync } from "node:fs";
import { landlockAbi } from "../../lib/libc.ts";
import { installTools } from "../tools/install.ts";
import { findTool } from "../tools/tools.ts";
import { hasLandlock, LANDLOCK_VARIABLES } from "./landlock.ts";
import { NO_SANDBOX, sandboxed, type Mount, type Sandbox } from "./sandbox.ts";

/** The user of the trial: none of Pilvi's users, which may have processes. */
interface Trial {
  /** Null where customers' processes run as the user of Pilvi itself. */
  account: { uid: number; gid: number } | null;
}

const TRIAL_TIMEOUT_MS = 10_000;

const BOUNDED_FOLDER: Mount = { from: null, to: "/app", isWritable: true, maxBytes: 1024 ** 2 };

/** Kernels with older rules let customers' processes signal others of their user. */
const FIRST_ABI_WITH_SCOPES = 6;

/** The best sandbox that works here with the programs that are there. */
export function findSandbox(enginesDir: string, trial: Trial): Sandbox {
  return findBubblewrap(enginesDir, trial) ?? findLandlock(trial) ?? NO_SANDBOX;
}

/** As `findSandbox`, after an attempt to install bubblewrap where it is missing. */
export async function ensureSandbox(enginesDir: string, trial: Trial): Promise<Sandbox> {
  if (findTool("bubblewrap", enginesDir) === null)
    await installTools(["bubblewrap"], enginesDir, () => undefined).catch(() => []);
  return findSandbox(enginesDir, trial);
}

/** The sandbox by bubblewrap; null where it does not work. */
function findBubblewrap(enginesDir: string, { account }: Trial): Sandbox | null {
  const tool = findTool("bubblewrap", enginesDir);
  if (tool === null) return null;
  const command = ["/usr/bin/true", "/bin/true"].find(existsSync) ?? "true";
  for (const boundsMemory of [true, false]) {
    const { program, env } = tool;
    const sandbox: Sandbox = { level: "bubblewrap", program, boundsMemory, etc: null, env };
    if (works(sandbox, account, [command], boundsMemory ? [BOUNDED_FOLDER] : [])) return sandbox;
  }
  return null;
}

/** The sandbox by Landlock; null where the kernel, or what Pilvi itself runs in, does not let it work. */
export function findLandlock({ account }: Trial): Sandbox | null {
  const abi = landlockAbi();
  if (!hasLandlock(abi)) return null;
  const sandbox: Sandbox = {
    level: "landlock",
    abi,
    isUserShared: account === null,
    env: LANDLOCK_VARIABLES,
  };
  return works(sandbox, account, ["/bin/sh", "-c", "! ls / >/dev/null 2>&1"]) ? sandbox : null;
}

/** A sentence about a sandbox, for operators. */
export function isolationSentence(sandbox: Sandbox, enginesDir: string): string {
  if (sandbox.level === "bubblewrap") return "applications and builds run in sandboxes (bubblewrap)";
  const reason =
    findTool("bubblewrap", enginesDir) === null
      ? "bubblewrap is missing"
      : "this machine does not let bubblewrap work";
  if (sandbox.level === "none")
    return `applications and builds run without a sandbox: ${reason}, and Landlock does not work either`;
  const processes = "see that other processes run";
  const rest = sandbox.isUserShared ? `${processes}, ${sharedUserText(sandbox.abi)}` : `and ${processes}`;
  return `applications and builds run in sandboxes of a lower level (Landlock, version ${sandbox.abi}), since ${reason}: they open no files but their own, ${rest}`;
}

/** What Landlock leaves open between processes of the same user. */
function sharedUserText(abi: number): string {
  const files = "and can change the modes and times of other files of this user";
  return abi < FIRST_ABI_WITH_SCOPES ? `can end processes of this user, ${files}` : files;
}

function works(
  sandbox: Sandbox,
  account: Trial["account"],
  command: readonly string[],
  mounts: readonly Mount[] = [],
): boolean {
  const view = { mounts, links: [], temporary: null, directory: "/", endsWithParent: true };
  const { success } = Bun.spawnSync(sandboxed(sandbox, view, command), {
    cwd: "/",
    env: { ...sandbox.env },
    stdio: ["ignore", "ignore", "ignore"],
    timeout: TRIAL_TIMEOUT_MS,
    ...account,
  });
  return success;
}
