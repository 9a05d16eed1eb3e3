// Asks through a running edge who answers a name. Only the host has the secret with which the edge says so.
import type { EdgeAnswer, EdgeProbe } from "../../contracts/edge-probe.ts";
import type { InstanceSpec } from "../../contracts/instance-spec.ts";
import { PORT_HEADER, PROBE_HEADER, type EngineEdge } from "../../engines/edge.ts";
import type { EngineContext } from "../../engines/engine.ts";
import { PublicError } from "../../lib/errors.ts";

/** Where a program of this machine reaches a server that listens at all addresses. */
const OWN_ADDRESS: Record<string, string> = { "0.0.0.0": "127.0.0.1", "::": "[::1]" };

/** @throws PublicError when the edge does not answer in time. */
export async function probe(
  { edge, context }: { edge: EngineEdge; context: EngineContext<InstanceSpec> },
  { name, path, timeoutSeconds }: EdgeProbe,
): Promise<EdgeAnswer> {
  const { address, spec } = context;
  const host = OWN_ADDRESS[address] ?? (address.includes(":") ? `[${address}]` : address);
  try {
    const response = await fetch(`http://${host}:${spec.exposure.port}${path}`, {
      headers: { host: name, "user-agent": "pilvi-probe", [PROBE_HEADER]: edge.probeSecret(context) },
      redirect: "manual",
      keepalive: false,
      signal: AbortSignal.timeout(timeoutSeconds * 1_000),
    });
    await response.body?.cancel();
    const port = response.headers.get(PORT_HEADER);
    return { status: response.status, port: port === null ? null : Number(port) };
  } catch (error) {
    throw new PublicError(`The edge did not answer a request for ${name} in time.`, error);
  }
}
