// The site that passkeys belong to: the host name under which the browser knows Pilvi.
import { isIP } from "node:net";
import type { Client } from "../../../api/auth/client.ts";
import { ApiError } from "../../../api/jsonapi/errors.ts";

/** What a browser and an authenticator call Pilvi. */
export interface RelyingParty {
  /** A host name. */
  id: string;
  /** Scheme, host and port of the page. */
  origin: string;
}

/** @throws ApiError 409 under an address where browsers have no passkeys. */
export function relyingPartyOf({ origin }: Client): RelyingParty {
  const { hostname, protocol, port } = new URL(origin);
  if (isIP(hostname) !== 0 || hostname.startsWith("[")) {
    const local = `http://localhost${port === "" ? "" : `:${port}`}`;
    throw new ApiError(409, `Passkeys need a host name. On this machine, open ${local} instead.`);
  }
  if (protocol !== "https:" && hostname !== "localhost" && !hostname.endsWith(".localhost")) {
    throw new ApiError(409, "Passkeys need HTTPS, except under localhost.");
  }
  return { id: hostname, origin };
}
