// The addresses of sessions' clients, by the engine's numbers of the sessions.
import { expect, test } from "bun:test";
import { SessionClients } from "./session-clients.ts";

test("addresses are those of the sessions that were asked about, in the same order and without ports", () => {
  const clients = new SessionClients();
  clients.began({ address: "192.0.2.17:50000" }, 11);
  clients.began({ address: "[2001:db8::7]:50000" }, 12);
  clients.began({ address: "[::ffff:192.0.2.18]:50000" }, 13);
  expect(clients.addressesOf([13, 12, 99, 11])).toEqual(["192.0.2.18", "2001:db8::7", null, "192.0.2.17"]);
});

test("a session that has ended is not known any more, nor is the former session of a client", () => {
  const clients = new SessionClients();
  const [moved, gone] = [{ address: "192.0.2.17:50000" }, { address: "192.0.2.18:50000" }];
  clients.began(moved, 11);
  clients.began(gone, 12);
  clients.began(moved, 13);
  clients.ended(gone);
  clients.ended(gone);
  expect(clients.addressesOf([11, 12, 13])).toEqual([null, null, "192.0.2.17"]);
});
