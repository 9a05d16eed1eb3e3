// The entry point that `pilvi up` uses for the gateway: `pilvi gateway` without the rest of the program, which takes
// longer to load than the gateway takes to start.
import { loadConfig } from "../../config.ts";
import { gatewayCommand } from "./gateway.ts";

// Files get the modes that the code names.
process.umask(0o022);
process.exit(await gatewayCommand(loadConfig(process.env)));
