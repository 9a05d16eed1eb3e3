// Why instances are woken without a client of their own: by a request, the control plane, or an application.
import * as z from "zod/mini";
import type { WakeReason } from "./sleep.ts";

/** Stands for the user in the record of a wake by a request, which knows none. */
const EDGE_USER = "http";

/** The user in the record of a wake by Pilvi itself. */
export const OWN_USER = "pilvi";

/** The reason of a wake by a request. @param client its address and port; empty if they are not known. */
export function wokenByRequest(client: string): WakeReason {
  return { user: EDGE_USER, address: client };
}

/** Why the control plane wakes what sleeps of a route. */
export const routeWakeSchema = z.strictObject({ occasion: z.enum(["wake interval"]) });

export type RouteWake = z.infer<typeof routeWakeSchema>;

/** The reason of a wake by the control plane: the occasion stands where the name of a client's program does. */
export function wokenFor({ occasion }: RouteWake): WakeReason {
  return { user: OWN_USER, application: occasion, address: "" };
}

/** The reason of a wake by an environment that wakes and reaches the instance. */
export function wokenWith(environment: string): WakeReason {
  return { user: OWN_USER, application: `environment ${environment}`, address: "" };
}
