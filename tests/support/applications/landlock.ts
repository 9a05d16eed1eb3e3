// Hosts whose customers' processes have the sandbox by Landlock, as on a machine where bubblewrap does not work.
import { findLandlock } from "../../../src/engines/sandbox/probe.ts";
import type { HostSettings } from "../../../src/host/engine/context.ts";
import { BUILD_ACCOUNT, canSwitchUsers } from "../../../src/host/os/accounts.ts";

/** The sandbox that a host finds here without bubblewrap. */
export function sandboxByLandlock(): NonNullable<HostSettings["sandbox"]> {
  const found = findLandlock({ account: canSwitchUsers() ? BUILD_ACCOUNT : null });
  if (found === null) throw new Error("these tests need Perl and a kernel with Landlock");
  return { now: found, ensured: () => Promise.resolve(found) };
}
