// The server before an instance that may sleep: it holds clients while the engine does not run.
import type { InstanceSpec } from "../../contracts/instance-spec.ts";
import type { InstanceEdge } from "../edge/edge.ts";
import type { InstanceGateway } from "../gateway/gateway-link.ts";
import type { Manifest } from "../manifest/manifest.ts";

/** The gateway or the edge, as a suspension needs it. */
export type ClientProxy = Pick<InstanceGateway, "drain" | "detach">;

/** Whether an instance of this spec can sleep at all. */
export function canSleep({ kind, exposure }: InstanceSpec): boolean {
  return kind === "application" || exposure.through === "gateway";
}

/** The proxy that clients reach the instance through now; null while its engine has clients of its own. */
export function proxyOf(
  { spec, servedThrough }: Manifest,
  { gateway, edge }: { gateway: InstanceGateway; edge: InstanceEdge },
): ClientProxy | null {
  // The edge has no connections of an instance to end: its clients are those of the route.
  if (spec.kind === "application")
    return { drain: (id, withinMs) => edge.drain(id, withinMs), detach: (id) => edge.isFree(id) };
  return servedThrough === "gateway" ? gateway : null;
}
