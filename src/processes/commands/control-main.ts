// The entry point that `pilvi up` uses for the control plane: `pilvi control` without the rest of the program, which
// takes time and memory.
import "../../lib/reflection.ts";
import { loadConfig } from "../../config.ts";
import { shrinkWhenIdle } from "../../lib/idle-memory.ts";
import { controlCommand } from "./control.ts";

// Files get the modes that the code names.
process.umask(0o022);
shrinkWhenIdle();
process.exit(await controlCommand(loadConfig(process.env)));
