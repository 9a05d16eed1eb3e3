// Checks types, lint rules and formatting, all of them even if the first check finds a fault.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { checkoutDir, ensureDependencies, runScript } from "./setup.mjs";

const CHECKS = [
  { name: "types", program: "tsc", args: [] },
  { name: "types of the console", program: "tsc", args: ["--project", "src/console"] },
  { name: "lint", program: "oxlint", args: [] },
  // A rule that needs types takes many times as long as all others, so it is a check of its own.
  { name: "promises", program: "oxlint", args: ["--type-aware", "--config", ".oxlintrc.promises.json"] },
  { name: "format", program: "oxfmt", args: ["--check"] },
];

async function main() {
  await ensureDependencies({ withTools: true });
  for (const { name, program, args } of CHECKS) {
    const { status, error, stdout, stderr } = spawnSync(join("node_modules", ".bin", program), args, {
      cwd: checkoutDir,
      encoding: "utf8",
    });
    if (status !== 0) {
      process.stdout.write(error === undefined ? stdout + stderr : `${error.message}\n`);
      process.exitCode = 1;
    }
    console.log(`${name}: ${status === 0 ? "ok" : `failed (${[program, ...args].join(" ")})`}`);
  }
}

await runScript(main);
