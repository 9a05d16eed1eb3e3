// The program of a realtime server: one process for one cluster, configured by the host.
import { readFileSync } from "node:fs";
import { readJsonAs } from "../contracts/read.ts";
import { processConfigSchema } from "../contracts/realtime.ts";
import { createLineLog } from "../lib/line-log.ts";
import { serveControl } from "./server/control-socket.ts";
import { RealtimeServer } from "./server/realtime-server.ts";
import { warmUp } from "./server/warm-up.ts";

const [configFile] = process.argv.slice(2);
const log = createLineLog({ process: "realtime" }, process.env.PILVI_LOG_LEVEL ?? "info");
if (configFile === undefined) {
  log.error({}, "the path of the configuration is missing");
  process.exit(2);
}

const config = readJsonAs(processConfigSchema, readFileSync(configFile, "utf8"), `The file ${configFile}`);
const server = new RealtimeServer(config, log);

let isEnding = false;
for (const signal of ["SIGTERM", "SIGINT"] as const) {
  process.on(signal, () => {
    if (isEnding) return;
    isEnding = true;
    log.info({ signal }, "closing");
    server.close().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ error }, "could not close cleanly");
        process.exit(1);
      },
    );
  });
}

warmUp(log);
server.start();
serveControl(server, config.controlSocket, log);
log.info({ server: config.id }, "realtime server is ready");
