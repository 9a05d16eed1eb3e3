// Who has to go when more come than there is room for.
import { expect, test } from "bun:test";
import { Strangers } from "./strangers.ts";

class Client {
  isClosed = false;
  close(): void {
    this.isClosed = true;
  }
}

function crowd(strangers: Strangers<Client>, door: string, count: number): Client[] {
  const clients = Array.from({ length: count }, () => new Client());
  for (const client of clients) strangers.add(door, client);
  return clients;
}

test("the oldest at the fullest door goes for each that comes", () => {
  const strangers = new Strangers<Client>(10);
  const quiet = crowd(strangers, "quiet", 2);
  const loud = crowd(strangers, "loud", 100);
  const late = crowd(strangers, "quiet", 1);
  expect([...quiet, ...late].some(({ isClosed }) => isClosed)).toBe(false);
  expect(loud.map(({ isClosed }) => isClosed)).toEqual([...Array(93).fill(true), ...Array(7).fill(false)]);
  expect(strangers.size).toBe(10);
});

test("whoever said who it is counts no more, and is counted off once", () => {
  const strangers = new Strangers<Client>(2);
  const [known, other] = crowd(strangers, "door", 2);
  if (known === undefined || other === undefined) throw new Error("nobody came");
  strangers.remove("door", known);
  strangers.remove("door", known);
  strangers.remove("elsewhere", other);
  expect(strangers.size).toBe(1);
  crowd(strangers, "door", 1);
  expect([known, other].some(({ isClosed }) => isClosed)).toBe(false);
});
