// The limit of clients before their login, and which of them are closed at the limit.
import { expect, test } from "bun:test";
import { PreAuthLimit } from "./pre-auth-limit.ts";

class Client {
  isClosed = false;
  close(): void {
    this.isClosed = true;
  }
}

function crowd(preAuth: PreAuthLimit<Client>, route: string, count: number): Client[] {
  const clients = Array.from({ length: count }, () => new Client());
  for (const client of clients) preAuth.add(route, client);
  return clients;
}

test("at the limit each new client closes the oldest client of the fullest route", () => {
  const preAuth = new PreAuthLimit<Client>(10);
  const idle = crowd(preAuth, "idle", 2);
  const loud = crowd(preAuth, "loud", 100);
  const late = crowd(preAuth, "idle", 1);
  expect([...idle, ...late].some(({ isClosed }) => isClosed)).toBe(false);
  expect(loud.map(({ isClosed }) => isClosed)).toEqual([...Array(93).fill(true), ...Array(7).fill(false)]);
  expect(preAuth.size).toBe(10);
});

test("a client that logged in is removed from the count, once", () => {
  const preAuth = new PreAuthLimit<Client>(2);
  const [known, other] = crowd(preAuth, "route", 2);
  if (known === undefined || other === undefined) throw new Error("nobody came");
  preAuth.remove("route", known);
  preAuth.remove("route", known);
  preAuth.remove("elsewhere", other);
  expect(preAuth.size).toBe(1);
  crowd(preAuth, "route", 1);
  expect([known, other].some(({ isClosed }) => isClosed)).toBe(false);
});

test("a flood over thousands of routes closes one client for each, without a search through them", () => {
  const preAuth = new PreAuthLimit<Client>(8_192);
  const routes = Array.from({ length: 8_000 }, (_, index) => `route ${index}`);
  // A search for each took ten seconds in all.
  for (let rounds = 0; rounds < 8; rounds += 1) for (const route of routes) preAuth.add(route, new Client());
  expect(preAuth.size).toBe(8_192);
}, 5_000);
