// Asks through a running edge which instance answers a name.
import type { EdgeAnswer, EdgeProbe } from "../../contracts/edge-probe.ts";
import type { InstanceSpec } from "../../contracts/instance-spec.ts";
import { PORT_HEADER, PROBE_HEADER, type EngineEdge } from "../../engines/edge.ts";
import type { EngineContext } from "../../engines/engine.ts";
import { codeOf, PublicError } from "../../lib/errors.ts";
import { withSocket } from "../../lib/unix-socket.ts";

/** Where a program of this machine reaches a server that listens at all addresses. */
const OWN_ADDRESS: Record<string, string> = { "0.0.0.0": "127.0.0.1", "::": "[::1]" };

interface RunningEdge {
  edge: EngineEdge;
  context: EngineContext<InstanceSpec>;
}

/** @throws PublicError when the edge does not answer in time. */
export async function probe(running: RunningEdge, query: EdgeProbe): Promise<EdgeAnswer> {
  const signal = AbortSignal.timeout(query.timeoutSeconds * 1_000);
  try {
    return await askBySocket(running, query, signal).catch((error: unknown) => {
      if (!isAbsent(error)) throw error;
      return ask(running, query, { signal });
    });
  } catch (error) {
    throw new PublicError(`The edge did not answer a request for ${query.name} in time.`, error);
  }
}

/** Programs of this machine share an address with the host, and may have all connections that the edge gives an address. */
async function askBySocket(running: RunningEdge, query: EdgeProbe, signal: AbortSignal): Promise<EdgeAnswer> {
  const path = running.edge.probeSocket(running.context);
  return await withSocket(path, async (unix) => await ask(running, query, { signal, unix }));
}

/** An edge of a former release has no socket, or that which the edge before it has left. */
function isAbsent(error: unknown): boolean {
  return ["ENOENT", "ECONNREFUSED"].includes(codeOf(error) ?? "");
}

async function ask(
  { edge, context }: RunningEdge,
  { name, path }: EdgeProbe,
  way: { signal: AbortSignal; unix?: string },
): Promise<EdgeAnswer> {
  const { address, spec } = context;
  const host = OWN_ADDRESS[address] ?? (address.includes(":") ? `[${address}]` : address);
  const response = await fetch(`http://${host}:${spec.exposure.port}${path}`, {
    headers: { host: name, "user-agent": "pilvi-probe", [PROBE_HEADER]: edge.probeSecret(context) },
    redirect: "manual",
    keepalive: false,
    ...way,
  });
  await response.body?.cancel();
  const port = response.headers.get(PORT_HEADER);
  return { status: response.status, port: port === null ? null : Number(port) };
}
