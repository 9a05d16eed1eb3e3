// Sends a WebSocket cluster a signed request of each application; only working requests make the cluster available.
import { createHmac } from "node:crypto";
import { PublicError } from "../../lib/errors.ts";

/** A connection on the same machine takes milliseconds; a request that takes longer is tried again. */
const LOGIN_TIMEOUT_MS = 3_000;

/** The address and the applications of a cluster. */
export interface WebSocketClusterLogin {
  /** Such as `https://cloud.example:20002`. */
  url: string;
  applications: { appId: string; key: string; secret: string }[];
}

/** @throws PublicError when the cluster is unreachable at its address or refuses a signature. */
export async function ensureLogin({ url, applications }: WebSocketClusterLogin): Promise<void> {
  // Without an application there is no key to sign with; any answer proves that the cluster serves.
  if (applications.length === 0) return void (await ask(url, "/"));
  await Promise.all(
    applications.map(async ({ appId, key, secret }) => {
      const { status } = await ask(url, signed(`/apps/${appId}/channels`, key, secret));
      if (status === 200) return;
      throw new PublicError(`A signed request at ${url} did not work: the answer was ${status}.`);
    }),
  );
}

async function ask(url: string, path: string): Promise<Response> {
  try {
    const response = await fetch(url + path, {
      signal: AbortSignal.timeout(LOGIN_TIMEOUT_MS),
      keepalive: false,
      // The request tests that the cluster answers. It does not test the certificate's name, which is the operator's
      // choice.
      tls: { rejectUnauthorized: false },
    });
    await response.arrayBuffer();
    return response;
  } catch (error) {
    throw new PublicError(`A request at ${url} did not work.`, error);
  }
}

/** The path with the signature that the protocol's HTTP API demands of a GET. */
function signed(path: string, key: string, secret: string): string {
  const query = `auth_key=${key}&auth_timestamp=${Math.floor(Date.now() / 1000)}&auth_version=1.0`;
  const signature = createHmac("sha256", secret).update(`GET\n${path}\n${query}`).digest("hex");
  return `${path}?${query}&auth_signature=${signature}`;
}
