// Where a database cluster can be reached from: the one place where that is decided.
import type { Exposure } from "../../drivers/driver.ts";
import type { DatabaseRow } from "./store.ts";

/** The wish `is_public` is kept, but engines speak no TLS by themselves, so each stays on its own machine until a gateway stands before it. */
export function exposureOf({ port }: DatabaseRow): Exposure {
  return { port, scope: "loopback" };
}
