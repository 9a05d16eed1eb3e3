// Says why the API cannot listen at its configured address.
import type { Config } from "../../config.ts";
import { codeOf, Refusal } from "../../lib/errors.ts";
import { takesOver } from "./takeover.ts";

/** @throws Refusal when another program listens at the port of the API, or this user may not listen there. */
export function refuseTakenPort(config: Config): void {
  const fault = listenFault(config);
  if (fault !== null) throw portRefusal(config, fault);
}

/**
 * Does as `refuseTakenPort`, but waits for a process that is about to end.
 * @param stop ends the wait.
 */
export async function waitForPort(config: Config, stop: AbortSignal): Promise<void> {
  let fault: unknown = null;
  const isFree = () => {
    fault = listenFault(config);
    return codeOf(fault) !== "EADDRINUSE";
  };
  await takesOver(isFree, stop);
  if (fault !== null) throw portRefusal(config, fault);
}

/** Why nothing can listen at the port of the API; null when something can. */
function listenFault({ host, port }: Config): unknown {
  try {
    Bun.listen({ hostname: host, port, socket: { data() {} } }).stop(true);
    return null;
  } catch (error) {
    return error;
  }
}

/** The sentence for the error of a failed listen. */
export function portRefusal({ host, port }: Config, error: unknown): Refusal {
  const code = codeOf(error);
  if (code === "EACCES")
    return new Refusal(`Port ${port} needs root. Set PILVI_PORT to one above 1023.`, error);
  if (code === "EADDRNOTAVAIL")
    return new Refusal(`This machine does not have the address PILVI_HOST ${host}.`, error);
  return new Refusal(
    `Port ${port} on ${host} is in use. Stop what uses it, or set PILVI_PORT to another one.`,
    error,
  );
}
