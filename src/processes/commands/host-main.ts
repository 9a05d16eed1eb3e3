// The entry point that `pilvi up` uses for the host: `pilvi host` without the rest of the program, which takes time
// and memory.
import { loadConfig } from "../../config.ts";
import { collectWhenIdle } from "../../lib/idle-memory.ts";
import { hostCommand } from "./host.ts";

// Files get the modes that the code names.
process.umask(0o022);
collectWhenIdle();
process.exit(await hostCommand(loadConfig(process.env)));
