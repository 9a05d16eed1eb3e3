// How the parts of the driver send requests to the host.
import type * as z from "zod/mini";

/** Sends requests to the host. */
export interface HostConnection {
  ask(method: string, path: string, init?: RequestInit): Promise<unknown>;
  /** Reads the answer by its schema. */
  askFor<T>(schema: z.core.$ZodType<T>, method: string, path: string, init?: RequestInit): Promise<T>;
}
