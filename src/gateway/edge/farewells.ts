// What a client is told that is sent away because there are too many, in the words of its protocol.
import type { Protocol } from "../link.ts";
import { tooManyClients } from "../postgres/errors.ts";
import { TOO_MANY_CLIENTS } from "../redis/replies.ts";

const NOTHING = new Uint8Array();

/**
 * For a client that has asked nothing. An error that comes unasked has the wrong number for a client of MySQL, and some take that for a
 * broken connection and warn of it.
 */
export const FAREWELLS: Record<Protocol, Uint8Array> = {
  postgres: tooManyClients().toBytes(),
  mysql: NOTHING,
  redis: Buffer.from(TOO_MANY_CLIENTS, "latin1"),
};
