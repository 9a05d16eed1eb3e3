// Prints the level of the sandbox that works for a program of this user here. Usage: bun sandbox-finder.ts ENGINES_DIR
import { findSandbox } from "../../../src/engines/sandbox/probe.ts";

const [enginesDir = ""] = process.argv.slice(2);
console.log(findSandbox(enginesDir, { account: null }).level);
