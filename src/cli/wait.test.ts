// Waits that an absence of Pilvi, a refusal or Ctrl-C interrupts, on the example of a cache.
import { afterEach, expect, test } from "bun:test";
import { badGateway, refused, closeServers, failureOf, one, serve, serveWith } from "./test-server.ts";
import { fakeIo, runCommand, sampleCache } from "./test-support.ts";

afterEach(closeServers);

const creating = sampleCache(1, { status: "creating" });
const available = sampleCache(1);
const path = `/caches/${available.id}`;

test("a wait outlasts an absence of Pilvi, with one line about it", async () => {
  const url = serve({
    "POST /caches": one(creating, 201),
    [`GET ${path}`]: [one(creating), badGateway, badGateway, one(available)],
  });
  const io = fakeIo();
  await runCommand(io, url, "caches", "create", "sessions", "--wait");
  expect(io.stderr).toBe(
    `Waiting for the cache sessions to be available\nPilvi is away, and the wait goes on: The server at ${url} answered with status 502 and no message.\n`,
  );
  expect(io.stdout).toContain("available");
});

test("a wait that ends while Pilvi is away prints the document, and how to look at it later", async () => {
  const url = serve({
    "POST /caches": one(creating, 201),
    [`GET ${path}`]: () => new Response("", { status: 504 }),
  });
  const io = fakeIo();
  const failure = await failureOf(
    runCommand(io, url, "caches", "create", "sessions", "--wait", "--json", "--timeout", "2"),
  );
  expect(failure?.exitCode).toBe(1);
  expect(failure?.text).toEndWith(`Pilvi goes on with it. Look at it with: pilvi caches show ${creating.id}`);
  expect(JSON.parse(io.stdout)).toEqual({ data: creating });
});

test("a wait that Pilvi refuses, or that Ctrl-C ends, prints the document as well", async () => {
  const io = fakeIo();
  const refusing = serve({ "POST /caches": one(creating, 201), [`GET ${path}`]: refused });
  const failure = await failureOf(
    runCommand(io, refusing, "caches", "create", "sessions", "--wait", "--json"),
  );
  expect(failure).toEqual({
    text: `Pilvi does not accept this token: It was revoked. Set PILVI_TOKEN to another: the console or \`pilvi token create\` makes one.\nPilvi goes on with it. Look at it with: pilvi caches show ${creating.id}`,
    exitCode: 1,
  });
  expect(JSON.parse(io.stdout)).toEqual({ data: creating });
  const interrupted = fakeIo();
  const url = serveWith((request) => {
    if (request.method !== "POST") interrupted.interrupt();
    return one(creating, 201)();
  });
  await failureOf(runCommand(interrupted, url, "caches", "create", "sessions", "--wait", "--json"));
  expect(JSON.parse(interrupted.stdout)).toEqual({ data: creating });
});
