#!/usr/bin/env node
// The `pilvi` command: makes the checkout ready, then runs the program in Bun and ends as it ends.
import { spawn, spawnSync } from "node:child_process";
import { constants, userInfo } from "node:os";
import { join } from "node:path";
import { checkoutDir, ensureDependencies, findBun, runScript, SetupError, STOP_SIGNALS } from "./setup.mjs";

const PARENT_CHECK_MS = 500;

/** Gives a user without a name the name that every Linux has; other users still see the files under the number. */
const AS_NOBODY = ["unshare", "--user", "--map-user=65534", "--map-group=65534"];

async function main() {
  if (process.env.npm_lifecycle_event === "start") endWithNpm();
  await ensureDependencies();
  const command = [await findBun(), join(checkoutDir, "src", "main.ts"), ...process.argv.slice(2)];
  const [program, ...args] = process.argv[2] === "up" && !hasName() ? [...AS_NOBODY, ...command] : command;
  // The channel shows the program when this script is killed.
  const child = spawn(program, args, {
    // Bun obeys `.env`, `bunfig.toml` and `package.json` of the folder that it starts in, which may be a foreign
    // project. So it starts here, and the program goes to the folder itself.
    cwd: checkoutDir,
    stdio: ["inherit", "inherit", "inherit", "ipc"],
    // Bun's own cache belongs to the checkout, not to the home folder.
    env: {
      BUN_RUNTIME_TRANSPILER_CACHE_PATH: join(checkoutDir, "node_modules", ".cache", "bun"),
      ...process.env,
      PILVI_FOLDER: presentFolder(),
    },
  });
  // The child decides about a signal. A terminal's Ctrl-C reaches the child directly as well, so the child must bear a
  // second signal.
  for (const signal of STOP_SIGNALS) process.on(signal, () => child.kill(signal));
  process.exitCode = await new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code, signal) => resolve(code ?? 128 + constants.signals[signal]));
  });
}

function presentFolder() {
  try {
    return process.cwd();
  } catch {
    throw new SetupError(
      "The present folder does not exist any more. Change to another folder, and try again.",
    );
  }
}

/**
 * Engines refuse to run for a user without a name, as in a container; where no name can be lent, their message says so.
 */
function hasName() {
  try {
    return userInfo().username !== "";
  } catch {
    const [unshare, ...options] = AS_NOBODY;
    return spawnSync(unshare, [...options, "true"]).status !== 0;
  }
}

/** An npm that is killed cannot pass a signal on, and its child would be in the way of the next start. */
function endWithNpm() {
  const npm = process.ppid;
  const check = () => process.ppid !== npm && process.kill(process.pid, "SIGTERM");
  setInterval(check, PARENT_CHECK_MS).unref();
}

await runScript(main);
