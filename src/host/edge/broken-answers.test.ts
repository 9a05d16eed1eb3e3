// Requests whose application ends the connection in place of an answer: how often the edge sends them, and what it says.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { LoneEdge } from "../../../tests/support/engines/lone-edge.ts";

let lone: LoneEdge;
let sent: number;

beforeEach(async () => {
  lone = await LoneEdge.start();
  sent = 0;
  const server = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data: (socket, bytes) => {
        if (bytes.includes("GET /sound ")) {
          socket.write("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nsound");
          return;
        }
        sent += 1;
        socket.end();
      },
    },
  });
  lone.keep(server);
  lone.add("a", "running", server.port);
  await lone.route("a", ["a.localhost"]);
});

afterEach(async () => await lone.close());

test("a GET that ends the application each time is sent a few times, and then answered with a failure", async () => {
  const { status } = await lone.get("a.localhost", "/breaks");
  expect(status).toBe(502);
  expect(sent).toBeWithin(2, 6);
});

test("a request that may take effect is sent once", async () => {
  const { status } = await lone.get("a.localhost", "/breaks", { method: "POST", body: "x" });
  expect([status, sent]).toEqual([502, 1]);
});

test("a GET that ends a kept connection is sent a few times, and then the client's connection ends", async () => {
  const ended = Promise.withResolvers<void>();
  const socket = {
    data: (each: Bun.Socket, bytes: Buffer) => {
      if (bytes.includes("sound")) each.write("GET /breaks HTTP/1.1\r\nhost: a.localhost\r\n\r\n");
    },
    close: () => ended.resolve(),
  };
  const client = await Bun.connect({ hostname: "127.0.0.1", port: lone.port, socket });
  client.write("GET /sound HTTP/1.1\r\nhost: a.localhost\r\n\r\n");
  await ended.promise;
  expect(sent).toBeWithin(2, 6);
});
