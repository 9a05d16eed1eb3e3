// The gate before a customer's command: what runs before the host has limited the processes of its sandbox, and after.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { chmodSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { applicationSpec, ownEngine } from "../../../tests/support/applications/host.ts";
import { sandboxByLandlock } from "../../../tests/support/applications/landlock.ts";
import { freshDataDir, until } from "../../../tests/support/pilvi/pilvi.ts";
import { IS_ROOT } from "../../../tests/support/pilvi/program.ts";
import { loadConfig } from "../../config.ts";
import type { InstanceSpec } from "../../contracts/instance-spec.ts";
import { application } from "../../engines/application/index.ts";
import type { Engine, EngineContext } from "../../engines/engine.ts";
import { NO_SANDBOX, type Sandbox } from "../../engines/sandbox/sandbox.ts";
import { PublicError } from "../../lib/errors.ts";
import { CUSTOMER_OOM_SCORE, OWN_OOM_SCORE, setOomScore } from "../../lib/oom-score.ts";
import { socketGroupOf } from "../os/accounts.ts";
import {
  ensureEngineFolders,
  ensureInstanceFolder,
  enginePaths,
  instanceFolder,
  type InstanceFolder,
} from "../os/layout.ts";
import { childrenOf, textOf } from "../os/proc-files.ts";
import { writeConfig } from "./context.ts";
import { startEngine, type EngineProcess } from "./engine-process.ts";
import { HostSandbox } from "./host-sandbox.ts";
import { readTail } from "./log-follower.ts";

const ACCOUNT = IS_ROOT ? { uid: 94_998, gid: 94_998 } : null;
const SECRET = "a-word-of-the-customer";

/** Says that it runs, with its variable, its input and the score of its memory. */
const COMMAND = 'echo "runs $WORD $go $(readlink /proc/self/fd/0) $(cat /proc/self/oom_score_adj)"';

const SANDBOXES: Record<string, () => Sandbox> = {
  bubblewrap: () => new HostSandbox(loadConfig(process.env).enginesDir, null).now,
  landlock: () => sandboxByLandlock().now,
  none: () => NO_SANDBOX,
};

let dataDir: string;
let folder: InstanceFolder;

beforeEach(() => {
  dataDir = freshDataDir();
});

afterEach(() => {
  setOomScore("self", 0);
  rmSync(dataDir, { recursive: true, force: true });
});

/** What the host starts an application with, in a folder that is ready for it. */
function contextIn(sandbox: Sandbox): EngineContext<InstanceSpec> {
  const app = join(dataDir, "app");
  mkdirSync(app);
  chmodSync(app, 0o755);
  mkdirSync(join(dataDir, "instances"), { mode: 0o711 });
  const spec = applicationSpec({ command: COMMAND, variables: { WORD: SECRET } });
  folder = instanceFolder(dataDir, spec.id);
  ensureInstanceFolder(folder);
  ensureEngineFolders(folder, ACCOUNT, socketGroupOf(spec));
  const context = {
    spec,
    installed: ownEngine(),
    paths: enginePaths(folder, "application.sock"),
    limits: application.limits(spec, 1024 ** 3),
    account: ACCOUNT,
    address: "127.0.0.1",
    certificate: null,
    adminPassword: "",
    allowPrivateWebhooks: false,
    logReader: null,
    application: { app, sandbox, runtime: { mounts: [], links: [], path: "/usr/bin:/bin", server: null } },
  };
  writeConfig(engine(), context);
  return context;
}

function engine(): Engine {
  return application as unknown as Engine;
}

/** What the application has written once it has ended. */
async function outputOf(process: EngineProcess): Promise<string> {
  await process.exited;
  return readTail(folder.log).replace(/^# pilvi .*\n/gm, "");
}

test.each(Object.keys(SANDBOXES))(
  "a command that cannot be limited never runs (sandbox: %s)",
  async (level) => {
    const context = contextIn(SANDBOXES[level]?.() ?? NO_SANDBOX);
    const fault = new PublicError("There are no limits.");
    const outcome = await startEngine(engine(), context, folder, () => Promise.resolve(fault)).catch(
      (error: unknown) => error,
    );
    if (outcome !== fault) await (outcome as EngineProcess).exited;
    expect(readTail(folder.log)).not.toContain("runs");
    expect(outcome).toBe(fault);
  },
);

test.each(Object.keys(SANDBOXES))(
  "a command begins once it is limited, with its own variables and no input (sandbox: %s)",
  async (level) => {
    const context = contextIn(SANDBOXES[level]?.() ?? NO_SANDBOX);
    const environs: string[] = [];
    const started = startEngine(engine(), context, folder, async (pid) => {
      await until("the gate is reached", () => isAtGate(pid));
      for (const each of familyOf(pid)) environs.push(textOf(`/proc/${each}/environ`));
      expect(readTail(folder.log)).not.toContain("runs");
      return null;
    });
    expect(await outputOf(await started)).toBe(`runs ${SECRET}  /dev/null ${CUSTOMER_OOM_SCORE}\n`);
    expect(environs.join("\0")).not.toContain(SECRET);
  },
);

/** Whether a process of the sandbox is the shell that waits. */
function isAtGate(pid: number): boolean {
  const innermost = familyOf(pid).at(-1) ?? pid;
  return textOf(`/proc/${innermost}/comm`) === "sh\n";
}

function familyOf(pid: number): number[] {
  return [pid, ...childrenOf(pid).flatMap(familyOf)];
}

test.skipIf(!IS_ROOT)("a sandbox keeps nothing of the host's rank when memory runs out", async () => {
  setOomScore("self", OWN_OOM_SCORE);
  const context = contextIn(SANDBOXES.bubblewrap?.() ?? NO_SANDBOX);
  const started = await startEngine(engine(), context, folder, (pid) => {
    // The first process of the sandbox has its score from the launcher.
    while (familyOf(pid).length < 2);
    return Promise.resolve(null);
  });
  expect(await outputOf(started)).toEndWith(` ${CUSTOMER_OOM_SCORE}\n`);
});
