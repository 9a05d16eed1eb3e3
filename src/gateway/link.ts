// What the host and the gateway say to each other, as contracts/gateway-link.ts has it.
export type { Route, RouteState, GatewayMessage, HostMessage, Protocol } from "../contracts/gateway-link.ts";
export type { Wake, WakeReason, WakeSpans } from "../contracts/sleep.ts";
export type { InstanceUser as RouteUser } from "../contracts/users.ts";
