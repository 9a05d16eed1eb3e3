// The entry point that `pilvi up` uses for the keeper: `pilvi keeper` without the rest of the program, which takes
// longer to load than the keeper takes to start.
import { loadConfig } from "../../config.ts";
import { shrinkWhenIdle } from "../../lib/idle-memory.ts";
import { keeperCommand } from "./keeper.ts";

// Files get the modes that the code names.
process.umask(0o022);
shrinkWhenIdle();
process.exit(await keeperCommand(loadConfig(process.env)));
