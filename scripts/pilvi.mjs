#!/usr/bin/env node
// The `pilvi` command: makes the checkout ready, then runs the program in Bun and ends as it ends.
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { join } from "node:path";
import { checkoutDir, ensureDependencies, findBun, runScript } from "./setup.mjs";

async function main() {
  await ensureDependencies();
  const program = join(checkoutDir, "src", "main.ts");
  const child = spawn(await findBun(), [program, ...process.argv.slice(2)], { stdio: "inherit" });
  // The child decides what a signal means. A terminal's Ctrl-C reaches it directly too, and it must bear the second one.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  process.exitCode = await new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code, signal) => resolve(code ?? 128 + constants.signals[signal]));
  });
}

await runScript(main);
