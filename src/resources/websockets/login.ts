// Sends a WebSocket cluster a signed request of each application; only working requests make the cluster available.
import { PublicError } from "../../lib/errors.ts";
import type { KindContext } from "../kind.ts";
import { urlOf } from "./render.ts";
import { signedPath, type ApplicationKey } from "./signature.ts";
import type { WebSocketClusterRow } from "./store.ts";

/** A connection on the same machine takes milliseconds; a request that takes longer is tried again. */
const LOGIN_TIMEOUT_MS = 3_000;

/** A channel that need not be occupied. */
const ANY_CHANNEL = "pilvi";

/** The address and the applications of a cluster. */
interface WebSocketClusterLogin {
  /** Such as `https://cloud.example:20002`. */
  url: string;
  applications: ApplicationKey[];
}

/** The address of a cluster and the keys of its applications. */
export function loginOf(cluster: WebSocketClusterRow, context: KindContext): WebSocketClusterLogin {
  return {
    url: urlOf("http", cluster, context.hosts.of(cluster.hostId)),
    applications: cluster.applications.map(({ id, appId, key, sealedSecret }) => ({
      appId,
      key,
      secret: context.vault.open(sealedSecret, id),
    })),
  };
}

/** @throws PublicError when the cluster is unreachable at its address or refuses a signature. */
export async function ensureLogin({ url, applications }: WebSocketClusterLogin): Promise<void> {
  // Without an application there is no key to sign with; any answer proves that the cluster serves.
  if (applications.length === 0) return void (await ask(url, "/"));
  await Promise.all(
    applications.map(async (application) => {
      // A list of all channels could be long, and cost the server and this process much.
      const path = `/apps/${application.appId}/channels/${ANY_CHANNEL}`;
      const status = await ask(url, signedPath({ method: "GET", path }, application));
      if (status === 200) return;
      throw new PublicError(`A signed request at ${url} did not work: the answer was ${status}.`);
    }),
  );
}

/** @returns the status of the answer. */
async function ask(url: string, path: string): Promise<number> {
  try {
    const response = await fetch(url + path, {
      signal: AbortSignal.timeout(LOGIN_TIMEOUT_MS),
      keepalive: false,
      // The request tests that the cluster answers. It does not test the certificate's name, which is the operator's
      // choice.
      tls: { rejectUnauthorized: false },
    });
    // The status says all, however much follows it.
    await response.body?.cancel();
    return response.status;
  } catch (error) {
    throw new PublicError(`A request at ${url} did not work.`, error);
  }
}
