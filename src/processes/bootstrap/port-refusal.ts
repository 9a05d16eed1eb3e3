// Says why the API cannot listen at its configured address.
import type { Config } from "../../config.ts";
import { codeOf, Refusal } from "../../lib/errors.ts";

/** @throws Refusal when another program listens at the port of the API, or this user may not listen there. */
export function refuseTakenPort(config: Config): void {
  try {
    const listener = Bun.listen({ hostname: config.host, port: config.port, socket: { data() {} } });
    listener.stop(true);
  } catch (error) {
    throw portRefusal(config, error);
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
