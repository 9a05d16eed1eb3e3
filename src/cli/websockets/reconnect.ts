// Whether and when a client connects again after its connection was closed; the hundreds of the close code decide.
import { CommandError } from "../failure.ts";
import type { Closing } from "./subscriber.ts";
import type { Target } from "./target.ts";

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 15_000;

/**
 * The time before the next attempt.
 * @param failures attempts without success since the last connection that was let in.
 * @param wasThere whether any connection was let in before; a cluster that restarts is away for a while, with Pilvi or
 * without.
 * @throws CommandError when the cluster refuses further attempts, or was never there.
 */
export function pauseAfter(closing: Closing, failures: number, wasThere: boolean, target: Target): number {
  const { code } = closing;
  if (code >= 4000 && code < 4100) throw new CommandError(refusalText(closing, target));
  if (!wasThere && code < 4000) {
    throw new CommandError(absenceText(closing, target));
  }
  if (code >= 4200 && code < 4300 && failures === 0) return 0;
  return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.max(0, failures - 1));
}

/** The text about a connection that ended and will be replaced. */
export function lossText({ code, reason }: Closing, pauseMs: number): string {
  const why = reason === "" ? `code ${code}` : `${reason}, code ${code}`;
  const when = pauseMs === 0 ? "at once" : `in ${Math.round(pauseMs / 1000)} s`;
  return `The connection is gone (${why}). Connecting again ${when}.\n`;
}

function absenceText({ reason }: Closing, { url }: Target): string {
  const why = reason === "" ? "" : `: ${reason}`;
  const advice = reason.includes("certificate")
    ? " Put the certificate of its authority into a file that NODE_EXTRA_CA_CERTS names."
    : "";
  return `Nothing that speaks the protocol answers at ${url}${why}.${advice}`;
}

function refusalText({ code, reason }: Closing, { application, cluster }: Target): string {
  const { name, max_connections: maxConnections } = application.attributes;
  switch (code) {
    case 4001:
      return `The cluster does not know the application ${name} (code 4001). Is it still there? See: pilvi websockets apps list ${cluster.id}`;
    case 4004:
      return `All connections of the cluster or of the application ${name}, which has ${maxConnections}, are in use (code 4004). Order more with: pilvi websockets update ${cluster.id} --max-connections NUMBER`;
    case 4009:
      return `The cluster closed the connection for good: ${reason} (code 4009).`;
    default:
      return `The cluster refuses the connection: ${reason} (code ${code}).`;
  }
}
