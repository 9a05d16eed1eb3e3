// Streams of events: each event once, in the order of the commits, over any number of lost connections, for tokens that
// may see it.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { revokeToken } from "../../src/api/auth/tokens.ts";
import type { EventResource } from "../../src/resources/shared/event-schema.ts";
import { EventBells } from "../../src/resources/shared/events/bells.ts";
import { recordEvent, type NewEvent } from "../../src/resources/shared/events/record.ts";
import { openStream, type StreamOptions } from "../../src/resources/shared/events/stream.ts";
import type { Transaction } from "../../src/store/database.ts";
import { startApi, validCache, type TestApi } from "../support/api/api.ts";
import { until } from "../support/pilvi/pilvi.ts";

let api: TestApi;
let organizationId: string;
beforeAll(async () => {
  api = await startApi();
  const [row] = await api.db<{ id: string }[]>`select id from organizations where name = 'default'`;
  organizationId = row?.id ?? "";
});
afterAll(() => api.stop());

interface Message {
  id?: string;
  event?: string;
  data?: string;
}

/** A stream that a client reads. */
class Follower {
  readonly messages: Message[] = [];
  isOver = false;
  readonly #abort = new AbortController();

  static async open(query = "", options: { token?: string; lastEventId?: string } = {}): Promise<Follower> {
    const follower = new Follower();
    const { token, lastEventId } = options;
    const response = await api.request(`/api/events?follow${query}`, {
      signal: follower.#abort.signal,
      headers: lastEventId === undefined ? {} : { "Last-Event-ID": lastEventId },
      ...(token !== undefined && { token }),
    });
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    if (response.body === null) throw new Error("a stream has a body");
    void follower.#read(response.body);
    await until("the stream has begun", () => follower.messages.length > 0 || follower.isOver);
    return follower;
  }

  get events(): EventResource[] {
    return this.messages.flatMap(({ event, data = "" }) =>
      event === undefined ? [JSON.parse(data) as EventResource] : [],
    );
  }

  get names(): string[] {
    return this.events.map(({ attributes }) => attributes.resource_name);
  }

  get lastId(): string {
    return this.messages.findLast(({ id }) => id !== undefined)?.id ?? "";
  }

  close(): void {
    this.#abort.abort();
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    let rest = "";
    try {
      for await (const chunk of body) {
        const blocks = (rest + decoder.decode(chunk, { stream: true })).split("\n\n");
        rest = blocks.pop() ?? "";
        for (const block of blocks) {
          const fields = block.split("\n").filter((line) => !line.startsWith(":") && line !== "");
          const message = fields.map((line) => /^(\w+): (.*)$/.exec(line)?.slice(1) as [string, string]);
          if (fields.length > 0) this.messages.push(Object.fromEntries(message) as Message);
        }
      }
    } catch {
      // The test itself closed the stream.
    }
    this.isOver = true;
  }
}

async function add(name: string, event: Partial<NewEvent> = {}, tx?: Transaction): Promise<void> {
  const resource = { type: "caches" as const, id: "cache-1", name };
  const whole: NewEvent = { organizationId, type: "available", resource, ...event };
  if (tx !== undefined) return await recordEvent(tx, whole);
  await api.db.begin((own) => recordEvent(own, whole));
}

describe("a stream of events", () => {
  test("starts with the first event after its opening", async () => {
    await add("before");
    const follower = await Follower.open();
    expect((await api.request("/api/caches", { json: validCache })).status).toBe(201);
    await until("the report arrives", () => follower.events.length === 1);
    expect(follower.events[0]?.attributes.message).toBe("The cache sessions was created.");
    follower.close();
  });

  test("goes on after the event that Last-Event-ID or `after` names", async () => {
    const first = await Follower.open();
    await add("one");
    await until("the report arrives", () => first.names.includes("one"));
    first.close();
    await add("two");
    await add("three");
    const byHeader = await Follower.open("", { lastEventId: first.lastId });
    const byQuery = await Follower.open(`&after=${first.lastId}`);
    await until("both receive the event", () => byHeader.names.length === 2 && byQuery.names.length === 2);
    expect([byHeader.names, byQuery.names]).toEqual([
      ["two", "three"],
      ["two", "three"],
    ]);
    byHeader.close();
    byQuery.close();
  });

  test("sends each event once over lost connections, while transactions commit out of order", async () => {
    const names = new Set<string>();
    const seen: string[] = [];
    const COUNT = 240;
    let follower = await Follower.open();
    const reading = (async () => {
      for (let round = 0; seen.length < COUNT; round++) {
        const wanted = Math.min(1 + (round % 7), COUNT - seen.length);
        await until("more events arrive", () => follower.events.length >= wanted);
        follower.close();
        seen.push(...follower.names);
        follower = await Follower.open("", { lastEventId: follower.lastId });
      }
      follower.close();
    })();
    const writers = Array.from({ length: 6 }, async (_, writer) => {
      for (let count = 0; count < 40; count++) {
        const name = `${writer}-${count}`;
        await api.db.begin(async (tx) => {
          await add(name, {}, tx);
          if ((count + writer) % 4 === 0) await tx`select pg_sleep(0.003)`;
        });
        names.add(name);
      }
    });
    await Promise.all([...writers, reading]);
    expect(seen).toHaveLength(COUNT);
    expect(new Set(seen)).toEqual(names);
  });

  test("applies filters, and reports its position by bookmarks", async () => {
    const follower = await Follower.open("&filter[type]=deleted&filter[resource]=cache-7");
    await add("other type", { resource: { type: "caches", id: "cache-7", name: "other type" } });
    await add("other resource", { type: "deleted" });
    await add("x", { type: "deleted", resource: { type: "caches", id: "cache-7", name: "fits" } });
    await until("the report arrives", () => follower.names.length > 0);
    expect(follower.names).toEqual(["fits"]);
    follower.close();
  });

  test("sends a token the events that it may read, and never those of another organization", async () => {
    const reader = await Follower.open("", { token: await api.newToken(["databases:read"]) });
    const otherToken = await Follower.open("", { token: await api.newToken(["*"], "others") });
    await add("a cache");
    await add("x", { resource: { type: "databases", id: "db-1", name: "a database" } });
    await until("the report arrives", () => reader.names.length > 0);
    expect(reader.names).toEqual(["a database"]);
    expect(otherToken.events).toEqual([]);
    reader.close();
    otherToken.close();
  });

  test("ends when its token is revoked", async () => {
    const token = await api.newToken(["caches:read"]);
    const follower = await Follower.open("", { token });
    const [row] = await api.db<{ id: string }[]>`select id from tokens order by id desc limit 1`;
    await revokeToken(api.db, row?.id ?? "");
    await until("it has ended", () => follower.isOver);
    expect((await api.request("/api/events?follow", { token })).status).toBe(401);
  });

  test.each([
    ["&filter[since]=2026-03-15T08:00:00Z", 422, "filter[since]"],
    ["&per_page=3", 422, "per_page"],
    ["&after=x", 422, "after"],
    ["&after=999999999999", 410, undefined],
  ])("refuses %s", async (query, status, member) => {
    const response = await api.request(`/api/events?follow${query}`);
    const { errors } = (await response.json()) as { errors?: object };
    expect([response.status, Object.keys(errors ?? {})[0]]).toEqual([status, member]);
  });

  test("refuses an invalid Last-Event-ID", async () => {
    const headers = { "Last-Event-ID": "yesterday" };
    expect((await api.request("/api/events?follow", { headers })).status).toBe(422);
  });

  test("is limited in number for a token, and returns its place at its end", async () => {
    const token = await api.newToken(["caches:read"]);
    const followers = await Promise.all(Array.from({ length: 20 }, () => Follower.open("", { token })));
    const refused = await api.request("/api/events?follow", { token });
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "15"]);
    (await Follower.open()).close();
    followers.pop()?.close();
    await until("there is room again", async () => {
      const response = await api.request("/api/events?follow", { token });
      await response.body?.cancel();
      return response.status === 200;
    });
    for (const follower of followers) follower.close();
  });
});

describe("a stream on its own", () => {
  test("sends heartbeats, and a bookmark when filters hide all events", async () => {
    const reader = (await open({ heartbeatMs: 20 })).getReader();
    const read = async () => new TextDecoder().decode((await reader.read()).value as Uint8Array);
    const first = await read();
    expect(first).toMatch(/^retry: \d+\nevent: bookmark\nid: \d+\ndata: \{\}\n\n$/);
    expect(await read()).toBe(":\n\n");
    await add("hidden");
    let next = await read();
    while (next === ":\n\n") next = await read();
    expect(next).toStartWith("event: bookmark\nid: ");
    expect(first).not.toContain(next);
    await reader.cancel();
  });

  test("is closed when its client does not read, and returns its place", async () => {
    const bells = new EventBells();
    const principal = {
      kind: "token" as const,
      organizationId,
      familyId: organizationId,
      tokenId: await tokenId(),
      abilities: ["*"],
    };
    const patient = { bells, principal, slowMs: 600_000 };
    const [first, ...others] = await Promise.all(Array.from({ length: 20 }, () => open(patient)));
    await expect(open(patient)).rejects.toThrow(/20 times/);
    await first?.cancel();
    await open({ bells, principal, slowMs: 30 });
    await until("there is room again", () =>
      open({ bells, principal, slowMs: 30 }).then(
        () => true,
        () => false,
      ),
    );
    await Promise.all(others.map((other) => other.cancel()));
  });

  test("ends with the process", async () => {
    const closing = new AbortController();
    const reader = (await open({ signals: [closing.signal] })).getReader();
    await reader.read();
    const next = reader.read();
    closing.abort();
    expect((await next).done).toBe(true);
  });
});

test("a client that does not read delays no other stream", async () => {
  const url = new URL(api.origin);
  const socket = connect(Number(url.port), url.hostname);
  socket.pause();
  socket.write(
    `GET /api/events?follow HTTP/1.1\r\nHost: ${url.host}\r\nAuthorization: Bearer ${api.token}\r\n\r\n`,
  );
  const healthy = await Follower.open();
  const details = { text: "x".repeat(50_000) };
  for (let count = 0; count < 200; count++) await add(`large-${count}`, { details });
  await until("the others receive all", () => healthy.names.length === 200);
  healthy.close();
  socket.destroy();
});

async function open(changes: Partial<StreamOptions>): Promise<ReadableStream<Uint8Array>> {
  return await openStream({
    db: api.db,
    bells: new EventBells(),
    principal: {
      kind: "token" as const,
      organizationId,
      familyId: organizationId,
      tokenId: await tokenId(),
      abilities: ["*"],
    },
    filter: { organizationId, types: [], resourceTypes: null, resourceIds: null },
    after: null,
    signals: [],
    ...changes,
  });
}

async function tokenId(): Promise<string> {
  const [row] = await api.db<{ id: string }[]>`
    select id from tokens where organization_id = ${organizationId} and revoked_at is null limit 1`;
  return row?.id ?? "";
}
