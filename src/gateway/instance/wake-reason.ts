// The wake reason as it is kept: clients choose most of its texts, and people read them in a terminal.
import { presentable } from "../../lib/presentable.ts";
import type { WakeReason } from "../../contracts/sleep.ts";

/** The same reason with presentable texts; the host refuses a message with much longer texts. */
export function presentableReason({ user, database, application, address }: WakeReason): WakeReason {
  return {
    user: presentable(user),
    ...(database !== undefined && { database: presentable(database) }),
    ...(application !== undefined && { application: presentable(application) }),
    address,
  };
}
