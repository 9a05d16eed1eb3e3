// The edge of a host: runs as soon as an environment needs it, and is asked as a browser would ask it.
import { EDGE_ID } from "../../contracts/edge-id.ts";
import type { EdgeRoute } from "../../contracts/edge-route.ts";
import type { EdgeSpec } from "../../contracts/instance-spec.ts";
import { PublicError, UnreachableError } from "../../lib/errors.ts";
import type { EdgeSettings } from "../../lib/edge-settings.ts";
import type { ServedHost } from "../kind.ts";
import { isServed } from "../shared/status.ts";
import { domainOf } from "./environments/address.ts";
import { policyOf } from "./environments/policy.ts";
import type { EnvironmentRow } from "./environments/store.ts";

/** The connections of all clients, and of one address. */
const [MAX_CONNECTIONS, MAX_CONNECTIONS_PER_ADDRESS] = [20_000, 2_000];

/** How long the first answer through the edge may take; the process has answered already. */
const ANSWER_TIMEOUT_SECONDS = 15;

/** Statuses from here on say that something is broken. */
const FIRST_FAILURE = 500;

function edgeSpec({ httpPort, httpsPort }: EdgeSettings): EdgeSpec {
  return {
    kind: "edge",
    id: EDGE_ID,
    engines: ["haproxy"],
    users: [],
    exposure: { port: httpPort, scope: "public", through: "engine" },
    httpsPort,
    maxConnections: MAX_CONNECTIONS,
    maxConnectionsPerAddress: MAX_CONNECTIONS_PER_ADDRESS,
  };
}

/** Has the edge run. @throws PublicError with its reason when it cannot. */
export async function ensureEdge(
  { driver }: ServedHost,
  settings: EdgeSettings,
  signal: AbortSignal,
): Promise<void> {
  const seen = await driver.ensure(edgeSpec(settings), signal);
  if (isServed(seen)) return;
  const reason = seen.lastError ?? "its host gives no reason.";
  throw new PublicError(`The edge cannot run at port ${settings.httpPort}: ${reason}`);
}

/** The route that leads the name of an environment to instances. */
export function routeTo(
  environment: EnvironmentRow,
  edge: EdgeSettings,
  instances: readonly string[],
): EdgeRoute {
  const { id, settings } = environment;
  return {
    id,
    names: settings.uses_vanity_domain ? [domainOf(environment, edge)] : [],
    instances: [...instances],
    settings: { timeoutSeconds: settings.timeout, policy: policyOf(settings, instances) },
  };
}

/** Has the edge take a route. @throws UnreachableError when it does not now. */
export async function ensureRoute({ driver }: Pick<ServedHost, "driver">, route: EdgeRoute): Promise<void> {
  await driver.ensureRoute(route).catch((error: unknown) => {
    // The host keeps the route, and brings an edge to it that did not take it now.
    throw new UnreachableError("The edge did not take the route.", error);
  });
}

/**
 * Asks the environment's address for a path. Without one, any answer of the release will do.
 * @throws PublicError when another instance answers than those at the ports, or none does.
 * @throws UnreachableError when the edge gives no answer, as right after its end.
 */
export async function ensureAnswered(
  { driver }: Pick<ServedHost, "driver">,
  edge: EdgeSettings,
  environment: EnvironmentRow,
  { path: wanted, ports }: { path: string | null; ports: readonly number[] },
): Promise<void> {
  if (!environment.settings.uses_vanity_domain) return;
  const name = domainOf(environment, edge);
  const path = wanted ?? "/";
  const askedAtMs = performance.now();
  const query = { name, path, timeoutSeconds: ANSWER_TIMEOUT_SECONDS };
  const seen = await driver.probeEdge(query).catch((error: unknown) => {
    // An edge that runs waits for the release, which is at fault when it takes all of the time.
    if (performance.now() - askedAtMs >= ANSWER_TIMEOUT_SECONDS * 1_000) throw error;
    throw new UnreachableError("The edge did not answer.", error);
  });
  if (seen.port !== null && ports.includes(seen.port) && (wanted === null || seen.status < FIRST_FAILURE))
    return;
  throw new PublicError(
    `The new release did not answer through the edge: its answer to ${path} was ${seen.status}.`,
  );
}
