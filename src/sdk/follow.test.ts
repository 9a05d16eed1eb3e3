// Streams that are followed while Pilvi comes and goes.
import { expect, test } from "bun:test";
import { PilviClient } from "./index.ts";

function clientWith(fetchOnce: (url: string) => Promise<Response>): PilviClient {
  return new PilviClient({
    url: "http://127.0.0.1:7458",
    token: "secret-token",
    pause: async () => undefined,
    fetch: fetchOnce,
  });
}

function message(id: string): Response {
  return new Response(`id: ${id}\ndata: ${JSON.stringify({ id })}\n\n`);
}

async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  return await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

type Follow = (client: PilviClient) => AsyncIterable<unknown>;

test.each<[string, Follow]>([
  ["a stream of messages", (client) => client.events.follow()],
  [
    "a stream of what happens in an application",
    (client) => client.websockets.applications("ws-1").debug("app-1"),
  ],
])(
  "%s is followed over an absence of Pilvi, and no longer than Pilvi lets it be followed",
  async (_, follow) => {
    const answers = [
      () => new Response(": open\n\n"),
      () => new Response("<html>", { status: 502 }),
      () => message("1"),
      () => new Response("", { status: 504 }),
      () => {
        throw Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
      },
      () => message("2"),
      () => Response.json({ message: "It was revoked." }, { status: 401 }),
    ];
    const asked: string[] = [];
    const client = clientWith(async (url) => {
      asked.push(url);
      return answers[asked.length - 1]?.() ?? new Response("", { status: 500 });
    });
    const seen: unknown[] = [];
    const following = (async () => {
      for await (const each of follow(client)) seen.push(each);
    })();
    expect(await errorOf(following)).toMatchObject({ status: 401 });
    expect(seen).toMatchObject([{ id: "1" }, { id: "2" }]);
    expect(asked).toHaveLength(7);
  },
);

test("a stream that never opens is an error", async () => {
  const away = clientWith(async () => new Response("", { status: 502 }));
  expect(await errorOf(away.events.follow().next())).toMatchObject({ status: 502 });
});
