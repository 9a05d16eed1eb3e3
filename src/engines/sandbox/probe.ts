// Finds out by trying which sandbox this machine allows: containers and distributions forbid it in many ways.
import { existsSync } from "node:fs";
import type { Isolation } from "../../contracts/application.ts";
import { installTools } from "../tools/install.ts";
import { findTool } from "../tools/tools.ts";
import { NO_SANDBOX, sandboxed, type Sandbox } from "./sandbox.ts";

/** The user of the trial: none of Pilvi's users, which may have processes. */
interface Trial {
  account: { uid: number; gid: number } | null;
}

const TRIAL_TIMEOUT_MS = 10_000;

/** The best sandbox that works here with the programs that are there. */
export function findSandbox(enginesDir: string, { account }: Trial): Sandbox {
  const tool = findTool("bubblewrap", enginesDir);
  if (tool === null) return NO_SANDBOX;
  const sandbox: Sandbox = { level: "bubblewrap", bubblewrap: { program: tool.program, env: tool.env } };
  return works(sandbox, account) ? sandbox : NO_SANDBOX;
}

/** As `findSandbox`, after an attempt to install bubblewrap where it is missing. */
export async function ensureSandbox(enginesDir: string, trial: Trial): Promise<Sandbox> {
  if (findTool("bubblewrap", enginesDir) === null)
    await installTools(["bubblewrap"], enginesDir, () => undefined).catch(() => []);
  return findSandbox(enginesDir, trial);
}

/** A sentence about a level, for operators. */
export function isolationSentence(level: Isolation, enginesDir: string): string {
  if (level === "bubblewrap") return "applications and builds run in sandboxes (bubblewrap)";
  return findTool("bubblewrap", enginesDir) === null
    ? "applications and builds run without a sandbox: bubblewrap is missing"
    : "applications and builds run without a sandbox: this machine does not let bubblewrap work";
}

function works(sandbox: Sandbox, account: Trial["account"]): boolean {
  const program = ["/usr/bin/true", "/bin/true"].find(existsSync) ?? "true";
  const view = { mounts: [], links: [], directory: "/", endsWithParent: true };
  const { success } = Bun.spawnSync(sandboxed(sandbox, view, [program]), {
    cwd: "/",
    env: { ...sandbox.bubblewrap?.env },
    stdio: ["ignore", "ignore", "ignore"],
    timeout: TRIAL_TIMEOUT_MS,
    ...account,
  });
  return success;
}
