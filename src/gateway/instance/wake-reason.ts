// What is kept of who woke an instance: most of it the clients choose themselves, and people read it.
import { presentable } from "../../lib/presentable.ts";
import type { WakeReason } from "../link.ts";

/** The same reason with texts that can be passed on; the host takes no message with much longer ones. */
export function presentableReason({ user, database, application, address }: WakeReason): WakeReason {
  return {
    user: presentable(user),
    ...(database !== undefined && { database: presentable(database) }),
    ...(application !== undefined && { application: presentable(application) }),
    address,
  };
}
