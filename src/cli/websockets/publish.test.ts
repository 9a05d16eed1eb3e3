// `pilvi websockets publish` against a cluster that follows a script.
import { afterEach, describe, expect, test } from "bun:test";
import { bodies, closeServers, failureOf } from "../test-server.ts";
import { fakeIo, runCommand } from "../test-support.ts";
import { apiOf, closeClusters, credentials, FakeCluster } from "./test-support.ts";

afterEach(async () => {
  await closeServers();
  await closeClusters();
});

describe("publish", () => {
  test("sends a signed event and prints the number of its receivers", async () => {
    const fake = new FakeCluster();
    fake.answer = () => Response.json({ channels: { news: { subscription_count: 2 } } });
    const io = fakeIo();
    const args = ["websockets", "publish", "chat", "news", "hello", '{"text":"moi"}'];
    await runCommand(io, apiOf(fake.port), ...args);
    expect(io.stdout).toBe("Published to 2 subscribers of the channel news.\n");
    const [request] = fake.requests;
    expect(request?.url.pathname).toBe("/apps/10001/events");
    expect(request?.url.searchParams.get("auth_key")).toBe(credentials.key);
    expect(JSON.parse(request?.body ?? "")).toEqual({
      name: "hello",
      channel: "news",
      data: '{"text":"moi"}',
      info: "subscription_count",
    });
  });

  test("reads data from the input, without the line break at its end, or sends no data", async () => {
    const fake = new FakeCluster();
    fake.answer = () => Response.json({ channels: { news: { subscription_count: 1 } } });
    const url = apiOf(fake.port);
    const io = fakeIo({ readInput: async () => "one\ntwo\n" });
    await runCommand(io, url, "websockets", "publish", "chat", "news", "hello", "-");
    await runCommand(io, url, "websockets", "publish", "chat", "news", "hello");
    const sent = fake.requests.map(({ body }) => (JSON.parse(body) as { data: string }).data);
    expect(sent).toEqual(["one\ntwo", "{}"]);
    expect(io.stdout).toStartWith("Published to 1 subscriber of the channel news.\n");
  });

  test("says why the cluster refuses an event, or does not answer", async () => {
    const fake = new FakeCluster();
    fake.answer = () => new Response("Invalid channel name\n", { status: 400 });
    const url = apiOf(fake.port);
    const publish = () => runCommand(fakeIo(), url, "websockets", "publish", "chat", "n n", "hello");
    expect(await failureOf(publish())).toEqual({
      text: "The cluster refuses the event: Invalid channel name",
      exitCode: 1,
    });
    await closeClusters();
    expect((await failureOf(publish()))?.text).toStartWith(
      `The cluster does not answer at http://127.0.0.1:${fake.port}: `,
    );
  });

  test("is not possible on encrypted channels", async () => {
    const failure = await failureOf(
      runCommand(fakeIo(), apiOf(1), "websockets", "publish", "chat", "private-encrypted-x", "hello"),
    );
    expect(failure?.text).toStartWith("Only a library that has the key can publish on private-encrypted-x");
    expect(bodies).toEqual([]);
  });
});
