// The last message to a client that is closed because there are too many, in its protocol.
import type { Protocol } from "../../contracts/gateway-link.ts";
import { tooManyClients } from "../postgres/errors.ts";
import { TOO_MANY_CLIENTS } from "../redis/replies.ts";

const NOTHING = new Uint8Array();

/**
 * For a client without a pending request. An unasked error has the wrong sequence number for MySQL clients; some of
 * them warn of a broken connection then.
 */
export const FAREWELLS: Record<Protocol, Uint8Array> = {
  postgres: tooManyClients().toBytes(),
  mysql: NOTHING,
  redis: Buffer.from(TOO_MANY_CLIENTS, "latin1"),
};
