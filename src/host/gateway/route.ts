// Builds the route of an instance for the gateway, from all that the host knows of it.
import { engineFor } from "../../engines/index.ts";
import { MAX_CLIENTS } from "../../engines/redis/memory.ts";
import type { Route, RouteState } from "../../contracts/gateway-link.ts";
import type { InstanceUser } from "../../contracts/users.ts";
import type { Condition, State } from "../manifest/instance-state.ts";
import { addressOf, type HostSettings } from "../engine/context.ts";
import { enginePaths, type InstanceFolder } from "../os/layout.ts";
import type { Manifest } from "../manifest/manifest.ts";
import type { Runnable } from "../engine/runner-parts.ts";

/** A stopped instance is about to start or to be removed. */
const STATES: Record<State, RouteState | null> = {
  absent: null,
  removing: null,
  starting: "starting",
  stopped: "starting",
  running: "running",
  failed: "failed",
  asleep: "asleep",
  draining: "draining",
};

/**
 * The number of clients beyond the engine's limit that may wait for a start. Once the engine runs, it refuses each
 * client that exceeds its limit.
 */
const MAX_HELD_BEYOND_ENGINE = 1_000;

/** The parts of a route. */
interface RouteParts {
  settings: HostSettings;
  folder: InstanceFolder;
  manifest: Manifest | null;
  /** Null until an engine is chosen; the route then has only the major version. */
  runnable: Runnable | null;
  condition: Condition;
  users: InstanceUser[];
  latestStart: Route["latestStart"];
}

/** The route; null for an instance that is not behind the gateway. */
export function routeOf(parts: RouteParts): Route | null {
  const { settings, folder, manifest, runnable, condition, users, latestStart } = parts;
  if (manifest === null || manifest.servedThrough !== "gateway") return null;
  const { spec, engine } = manifest;
  const known = engineFor(engine.name, spec.kind);
  const state = STATES[condition.state];
  if (known === undefined || known.protocol === null) return null;
  if (state === null || spec.exposure.port === null) return null;
  const paths = enginePaths(folder, known.socketName(spec));
  return {
    id: spec.id,
    protocol: known.protocol,
    address: addressOf(settings, spec),
    port: spec.exposure.port,
    socket: paths.socket,
    engine: { name: engine.name, version: runnable?.context.installed.version ?? engine.major },
    state,
    lastError: condition.lastError,
    users,
    mockNonce: known.mockNonce?.(paths.dataDir) ?? null,
    maxConnections: "maxConnections" in spec ? spec.maxConnections + MAX_HELD_BEYOND_ENGINE : MAX_CLIENTS,
    sleepAfterSeconds: "sleepAfterSeconds" in spec ? spec.sleepAfterSeconds : null,
    latestStart,
  };
}
