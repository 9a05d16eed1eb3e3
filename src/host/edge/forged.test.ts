// Requests with which a client bends what the application takes for the edge's word, or another client's answer.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { connect } from "node:http2";
import { LoneEdge } from "../../../tests/support/engines/lone-edge.ts";
import { NO_POLICY } from "../../contracts/edge-route.ts";
import { USUAL_POLICY } from "../../engines/haproxy/policy.ts";
import { RawApplication } from "../../../tests/support/engines/raw-application.ts";

let lone: LoneEdge;
let application: RawApplication;

beforeEach(async () => {
  lone = await LoneEdge.start();
  application = await RawApplication.start((line) => line);
  lone.keep(application);
  lone.add("a", "running", application.port);
  await lone.route("a", ["a.localhost"]);
});

afterEach(async () => await lone.close());

/** Sends a request of these lines as the last of its connection, and returns the answer. */
async function ask(...lines: string[]): Promise<string> {
  return await lone.raw(`${[...lines, "connection: close"].join("\r\n")}\r\n\r\n`);
}

describe("a Host header", () => {
  test.each([
    "a.localhost:80@evil.example",
    "a.localhost:evil",
    "a.localhost:80/evil?x",
    'a.localhost:80"><script>',
    "a.localhost:123456",
    "b.localhost, a.localhost",
    "a.localhost..",
  ])("of more than a name and a port reaches no application: %s", async (host) => {
    expect(await ask("GET / HTTP/1.1", `host: ${host}`)).toMatch(/^HTTP\/1\.1 40[04]/);
    expect(application.received).toEqual([]);
  });

  test("over HTTP/2 is judged in the same way", async () => {
    const session = connect(`http://127.0.0.1:${lone.port}`);
    const stream = session.request({ ":authority": "a.localhost:80@evil.example", ":path": "/" });
    stream.resume();
    const status = await new Promise((resolve, reject) => {
      stream.once("response", (headers) => resolve(headers[":status"]));
      stream.once("error", reject);
    });
    expect(status).toBe(400);
    expect(application.received).toEqual([]);
    session.close();
  });
});

describe("an application", () => {
  test("gets the path alone of a request for a whole address", async () => {
    for (const target of ["http://a.localhost/x?y=1", "HTTP://user@A.localhost/x?y=1"])
      expect(await ask(`GET ${target} HTTP/1.1`, "host: a.localhost")).toEndWith("GET /x?y=1 HTTP/1.1");
    expect(await ask("GET http://a.localhost HTTP/1.1", "host: a.localhost")).toEndWith("GET / HTTP/1.1");
    expect(await ask("GET http://a.localhost?x=1 HTTP/1.1", "host: a.localhost")).toMatch(
      /GET \/\S* HTTP\/1.1$|^HTTP\/1.1 400/,
    );
    expect(await ask("OPTIONS * HTTP/1.1", "host: a.localhost")).toEndWith("OPTIONS * HTTP/1.1");
  });

  test("is not asked to drop what the edge says of the client", async () => {
    await lone.raw(
      "GET / HTTP/1.1\r\nhost: a.localhost\r\nconnection: close, X-Forwarded-For, X-Real-Ip\r\n\r\n",
    );
    expect(application.received.join("")).toContain("x-forwarded-for: 127.0.0.1");
    expect(application.received.join("")).not.toMatch(/^connection:.*forwarded/im);
  });

  test("gets no address of the client by another name", async () => {
    await ask(
      "GET / HTTP/1.1",
      "host: a.localhost",
      "client-ip: 6.6.6.6",
      "x-client-ip: 6.6.6.6",
      "x-cluster-client-ip: 6.6.6.6",
    );
    expect(application.received.join("")).not.toContain("6.6.6.6");
  });

  test("is offered no protocol but WebSocket, past which the edge would not see", async () => {
    await lone.raw(
      "GET / HTTP/1.1\r\nhost: a.localhost\r\nconnection: close, upgrade, http2-settings\r\nupgrade: h2c\r\n" +
        "http2-settings: AAMAAABkAARAAAAAAAIAAAAA\r\n\r\n",
    );
    expect(application.received.join("")).toContain("GET / HTTP/1.1");
    expect(application.received.join("")).not.toMatch(/^(?:upgrade|http2-settings):/im);
  });

  test("gets no request for a tunnel, nor one for an echo", async () => {
    const hidden = "GET /hidden HTTP/1.1\r\nhost: a.localhost\r\nx-forwarded-for: 6.6.6.6\r\n\r\n";
    const tunnel = await lone.raw(
      `CONNECT a.localhost:80 HTTP/1.1\r\nhost: a.localhost:80\r\nconnection: close\r\n\r\n${hidden}`,
    );
    expect(tunnel).toStartWith("HTTP/1.1 405");
    expect(await ask("TRACE / HTTP/1.1", "host: a.localhost")).toStartWith("HTTP/1.1 405");
    expect(application.received).toEqual([]);
  });
});

/** What the application answers to ten others that come then. */
async function answersOfOthers(): Promise<Set<string>> {
  const answers = new Set<string>();
  for (let client = 0; client < 10; client += 1)
    answers.add(await (await lone.get("a.localhost", "/mine")).text());
  const first = application.received.find((each) => each.includes("/first"));
  expect(first).not.toContain("/mine");
  return answers;
}

describe("a body that the application does not read", () => {
  /** A request that lacks its end, so that the next request on its connection would be a header of it. */
  const SMUGGLED = "GET /smuggled HTTP/1.1\r\nx-rest: ";
  const OF_A = "host: a.localhost\r\nconnection: close";

  // The edge keeps a connection to the application, which the request with the body must not get.
  beforeEach(async () => {
    await (await lone.get("a.localhost", "/mine")).text();
  });

  test("is no answer for the next client", async () => {
    const length = `content-length: ${SMUGGLED.length}`;
    await lone.raw(`GET /first HTTP/1.1\r\n${OF_A}\r\n${length}\r\n\r\n${SMUGGLED}`);
    expect(await answersOfOthers()).toEqual(new Set(["GET /mine HTTP/1.1"]));
  });

  test("is no answer for the next client when it comes in chunks", async () => {
    const chunk = `${SMUGGLED.length.toString(16)}\r\n${SMUGGLED}\r\n0\r\n\r\n`;
    await lone.raw(`GET /first HTTP/1.1\r\n${OF_A}\r\ntransfer-encoding: chunked\r\n\r\n${chunk}`);
    expect(await answersOfOthers()).toEqual(new Set(["GET /mine HTTP/1.1"]));
  });

  test("is no answer for the next client when it comes over HTTP/2 without a length", async () => {
    const session = connect(`http://127.0.0.1:${lone.port}`);
    const stream = session.request({ ":authority": "a.localhost", ":path": "/first" }, { endStream: false });
    stream.end(SMUGGLED);
    stream.resume();
    await new Promise<void>((resolve) => stream.once("close", () => resolve()));
    session.close();
    expect(await answersOfOthers()).toEqual(new Set(["GET /mine HTTP/1.1"]));
  });
});

describe.each([
  { route: "with the usual policy", policy: USUAL_POLICY },
  { route: "with a lenient policy", policy: NO_POLICY },
  { route: "with a strict policy", policy: { ...NO_POLICY, isUnderAttack: true } },
  { route: "of an instance that sleeps", policy: USUAL_POLICY, isAsleep: true },
])("a route $route", ({ policy, isAsleep = false }) => {
  beforeEach(async () => {
    if (isAsleep) lone.change("a", { state: "asleep", port: 0 });
    await lone.route("a", ["a.localhost"], "a", 30, policy);
  });

  test.each(["GET", "POST"])(
    "gets no chunks of HTTP/1.0, whose end such servers do not know: %s",
    async (method) => {
      const answer = await lone.raw(
        `${method} / HTTP/1.0\r\nhost: a.localhost\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
      );
      // HAProxy itself refuses a GET with chunks.
      expect(answer).toStartWith(`HTTP/1.1 ${method === "GET" ? 413 : 400}`);
      expect([application.received, lone.applications.get("a")?.wakes]).toEqual([[], 0]);
    },
  );

  test.each(["CONNECT a.localhost:80", "TRACE /"])("gets no %s", async (start) => {
    expect(await ask(`${start} HTTP/1.1`, "host: a.localhost")).toStartWith("HTTP/1.1 405");
    expect([application.received, lone.applications.get("a")?.wakes]).toEqual([[], 0]);
  });
});
