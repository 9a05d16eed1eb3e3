// The part of the local driver that reads the logs of engines and of environments.
import { environmentLogSliceSchema } from "../../contracts/environment-logs.ts";
import { logSliceSchema } from "../../contracts/logs.ts";
import type { Driver } from "../driver.ts";
import type { HostConnection } from "./host-connection.ts";

/** The part of the driver that reads logs. */
export function logs({ askFor }: HostConnection): Pick<Driver, "logs" | "environmentLogs"> {
  return {
    logs: (id, query, signal) =>
      askFor(logSliceSchema, "POST", `/instances/${id}/logs`, { body: JSON.stringify(query), signal }),
    environmentLogs: (environment, query, signal) =>
      askFor(environmentLogSliceSchema, "POST", `/environments/${environment}/logs`, {
        body: JSON.stringify(query),
        signal,
      }),
  };
}
