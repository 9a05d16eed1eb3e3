// The choice of connections to close when descriptors get scarce.
import { describe, expect, test } from "bun:test";
import { ConnectionLimits } from "./connection-limits.ts";
import { Customers, hostOf } from "./customers.ts";

class Client {
  isClosed = false;
  isAttached = false;
  /** How often the address was read. */
  looks = 0;
  readonly usedAtMs: number;
  readonly #address: string;
  constructor(host: string, usedAtMs = 0) {
    this.#address = `${host}:4000`;
    this.usedAtMs = usedAtMs;
  }
  get address(): string {
    this.looks += 1;
    return this.#address;
  }
  close(): void {
    this.isClosed = true;
  }
}

function come(customers: Customers<Client>, route: string, clients: Client[], most = Infinity): Client[] {
  for (const client of clients) customers.add(route, client, most);
  return clients;
}

function clientsOf(count: number, host: (index: number) => string): Client[] {
  return Array.from({ length: count }, (_, index) => new Client(host(index), index));
}

function closed(clients: Client[]): number {
  return clients.filter(({ isClosed }) => isClosed).length;
}

const customersOf = () => new Customers<Client>((client) => client.close());

describe("customers", () => {
  test("a route refuses clients above its limit, and takes the next when a client has gone", () => {
    const customers = customersOf();
    const [first, second, third] = [new Client("1.1.1.1"), new Client("1.1.1.1"), new Client("1.1.1.1")];
    expect([first, second, third].map((client) => customers.add("a", client, 2))).toEqual([
      true,
      true,
      false,
    ]);
    expect(customers.add("b", third, 2)).toBe(true);
    customers.remove("a", first);
    customers.remove("a", first);
    expect(customers.add("a", new Client("1.1.1.1"), 2)).toBe(true);
    expect(customers.size).toBe(3);
  });

  test("a client that logs in twice counts once", () => {
    const customers = customersOf();
    const client = new Client("1.1.1.1");
    expect([customers.add("a", client, 1), customers.add("a", client, 1)]).toEqual([true, true]);
    expect(customers.size).toBe(1);
  });

  test("the fullest route loses the clients that are silent longest", () => {
    const customers = customersOf();
    const idle = come(
      customers,
      "idle",
      clientsOf(5, () => "1.1.1.1"),
    );
    const loud = come(
      customers,
      "loud",
      clientsOf(100, () => "1.1.1.1"),
    );
    customers.shed(60);
    expect(closed(idle)).toBe(0);
    expect(loud.map(({ isClosed }) => isClosed)).toEqual([...Array(60).fill(true), ...Array(40).fill(false)]);
  });

  test("clients connected to an engine are closed last, and free two descriptors each", () => {
    const customers = customersOf();
    const clients = come(
      customers,
      "a",
      clientsOf(10, () => "1.1.1.1"),
    );
    for (const client of clients.slice(0, 5)) client.isAttached = true;
    customers.shed(7);
    expect(clients.slice(5).every(({ isClosed }) => isClosed)).toBe(true);
    expect(closed(clients)).toBe(6);
  });

  test("clients of an address with more than half of all connections are closed first, also across many routes", () => {
    const customers = customersOf();
    const honest = come(
      customers,
      "honest",
      clientsOf(40, (index) => `2.2.2.${index}`),
    );
    const crowd = Array.from({ length: 60 }, (_, index) =>
      come(
        customers,
        `r${index}`,
        clientsOf(1, () => "6.6.6.6"),
      ),
    ).flat();
    customers.shed(15);
    expect([closed(honest), closed(crowd)]).toEqual([0, 15]);
  });

  test("when all clients share one address, as behind a proxy, the fullest route loses clients", () => {
    const customers = customersOf();
    const few = come(
      customers,
      "few",
      clientsOf(3, () => "127.0.0.1"),
    );
    const many = come(
      customers,
      "many",
      clientsOf(30, () => "127.0.0.1"),
    );
    customers.shed(20);
    expect([closed(few), closed(many)]).toEqual([0, 20]);
  });

  test("clients connected to an engine are closed last also where they fill the fullest route", () => {
    const customers = customersOf();
    const busy = come(
      customers,
      "busy",
      clientsOf(70, (index) => `2.2.2.${index}`),
    );
    for (const client of busy) client.isAttached = true;
    const crowd = Array.from({ length: 10 }, (_, route) =>
      come(
        customers,
        `r${route}`,
        clientsOf(60, (index) => `6.6.${route}.${index}`),
      ),
    ).flat();
    customers.shed(300);
    expect([closed(busy), closed(crowd)]).toEqual([0, 300]);
  });

  test("clients without an engine stay when clients with one take all room", () => {
    const customers = customersOf();
    const waiting = Array.from({ length: 20 }, (_, route) =>
      come(
        customers,
        `w${route}`,
        clientsOf(5, (index) => `2.2.${route}.${index}`),
      ),
    ).flat();
    const crowd = Array.from({ length: 3 }, (_, route) =>
      come(
        customers,
        `r${route}`,
        clientsOf(200, (index) => `6.6.${route}.${index}`),
      ),
    ).flat();
    for (const client of crowd) client.isAttached = true;
    customers.shed(600);
    expect([closed(waiting), closed(crowd)]).toEqual([0, 300]);
  });

  test("each client is looked at a few times, however many routes there are", () => {
    let looks = 0;
    const countedClient = (host: string) =>
      Object.defineProperty(new Client(host), "isAttached", { get: () => ((looks += 1), false) });
    const customers = customersOf();
    const clients = Array.from({ length: 1_000 }, (_, route) =>
      come(
        customers,
        `r${route}`,
        Array.from({ length: 11 }, (__, index) => countedClient(`6.6.${route % 250}.${index}`)),
      ),
    ).flat();
    customers.shed(2_000);
    expect(closed(clients)).toBe(2_000);
    expect(looks).toBeLessThan(10 * clients.length);
  });

  test("shedding more descriptors than there are closes all clients", () => {
    const customers = customersOf();
    const clients = come(
      customers,
      "a",
      clientsOf(3, () => "127.0.0.1"),
    );
    customers.shed(10);
    expect([closed(clients), customers.size]).toEqual([3, 0]);
  });

  test("the network of a client is found once, however often clients are chosen", () => {
    const customers = customersOf();
    const clients = come(
      customers,
      "a",
      clientsOf(40, () => "127.0.0.1"),
    );
    for (let rounds = 0; rounds < 10; rounds += 1) customers.shed(3);
    expect([closed(clients), Math.max(...clients.map(({ looks }) => looks))]).toEqual([30, 1]);
  });

  test.each([
    ["127.0.0.1:80", "127.0.0.1"],
    ["[2001:db8:1:2:3:4:5:6]:80", "2001:db8:1:2"],
    ["[2001:db8::1]:80", "2001:db8:0:0"],
    ["[::1]:80", "0:0:0:0"],
  ])("%s counts as %s", (address, host) => expect(hostOf(address)).toBe(host));
});

const limitsOf = (openFiles: number) => new ConnectionLimits<Client>(openFiles, (client) => client.close());

describe("the limits of a gateway", () => {
  test("with room for all connections no connection is closed", () => {
    const limits = limitsOf(1_000);
    const clients = clientsOf(400, () => "1.1.1.1");
    for (const client of clients) limits.arrived("a", client);
    limits.relieve(limits.room(10), 10);
    expect(closed(clients)).toBe(0);
  });

  test("clients before their login are closed before customers", () => {
    const limits = limitsOf(1_000);
    const preAuth = clientsOf(400, () => "1.1.1.1");
    const customers = clientsOf(400, () => "1.1.1.1");
    for (const client of preAuth) limits.arrived("a", client);
    for (const client of customers) limits.identified("b", client, 10_000);
    limits.relieve(limits.room(10) + 1, 10);
    expect([closed(preAuth), closed(customers)]).toEqual([33, 0]);
  });

  test("clients that are served no more are closed first, and count no more once they have closed", () => {
    const limits = limitsOf(1_000);
    const [disconnecting, preAuth, customers] = [100, 200, 400].map((count) =>
      clientsOf(count, () => "1.1.1.1"),
    );
    for (const client of [...(disconnecting ?? []), ...(preAuth ?? [])]) limits.arrived("a", client);
    for (const client of customers ?? []) limits.identified("b", client, 10_000);
    for (const client of disconnecting ?? []) limits.left("a", client);
    limits.closed(disconnecting?.[0] ?? new Client(""));
    limits.relieve(limits.room(10) + 20, 10);
    const closedOf = (clients: Client[] = []) => clients.map(({ isClosed }) => isClosed);
    expect(closedOf(disconnecting)).toEqual([false, ...Array(52).fill(true), ...Array(47).fill(false)]);
    expect([closed(preAuth ?? []), closed(customers ?? [])]).toEqual([0, 0]);
    limits.relieve(limits.room(10) + 69, 10);
    expect([closed(disconnecting ?? []), closed(preAuth ?? []), closed(customers ?? [])]).toEqual([
      99, 54, 0,
    ]);
  });

  test("customers are closed when the clients before their login are down to their reserve", () => {
    const limits = limitsOf(1_000);
    const preAuth = clientsOf(60, () => "1.1.1.1");
    const customers = clientsOf(700, () => "1.1.1.1");
    for (const client of preAuth) limits.arrived("a", client);
    for (const client of customers) limits.identified("b", client, 10_000);
    limits.relieve(limits.room(10) + 20, 10);
    expect([closed(preAuth), closed(customers)]).toEqual([0, 52]);
  });
});
