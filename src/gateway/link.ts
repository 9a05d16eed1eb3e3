// The messages between host and gateway; contracts/gateway-link.ts defines them.
export type { Route, RouteState, GatewayMessage, HostMessage, Protocol } from "../contracts/gateway-link.ts";
export type { Wake, WakeReason, WakeSpans } from "../contracts/sleep.ts";
export type { InstanceUser as RouteUser } from "../contracts/users.ts";
