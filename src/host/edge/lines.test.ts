// Which requests a real edge hands to the host as lines.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { LoneEdge } from "../../../tests/support/engines/lone-edge.ts";
import { until } from "../../../tests/support/pilvi/pilvi.ts";
import { AccessSocket } from "../logs/environments/access-socket.ts";
import { accessSocket } from "../os/layout.ts";

let lone: LoneEdge;
let lines: string[];

beforeEach(async () => {
  lines = [];
  lone = await LoneEdge.start({
    access: (dataDir) => {
      const socket = new AccessSocket(accessSocket(dataDir), (line) => lines.push(line));
      return {
        listen: () => socket.listen(),
        admit: (uid) => socket.admit(uid),
        counted: () => undefined,
        close: () => socket.close(),
      };
    },
  });
  lone.serve("a", () => new Response("a"));
  await lone.route("a", ["a.localhost"]);
});

afterEach(async () => await lone.close());

test.each(["unknown.localhost", "a.localhost:evil", "a.localhost:80@evil.example", "a.localhost..", ""])(
  "a request for no route has no line, whatever its Host: %p",
  async (host) => {
    await lone.raw(`GET /unlogged HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`);
    await lone.raw("GET /unlogged HTTP/1.0\r\n\r\n");
    for (const spelling of ["a.localhost", "A.localhost.", "a.localhost:8080"])
      await lone.raw(`GET / HTTP/1.1\r\nhost: ${spelling}\r\nconnection: close\r\n\r\n`);
    await until("the lines of the others are there", () => lines.length >= 3);
    expect(lines.map((line) => JSON.parse(line))).toEqual(
      Array.from({ length: 3 }, () => expect.objectContaining({ r: "a", s: 200, p: "/" })),
    );
  },
);
