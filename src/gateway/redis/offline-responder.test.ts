// Many commands in one write, which the gateway reads and answers itself while the cache sleeps.
import { afterEach, describe, expect, spyOn, test } from "bun:test";
import { sha256Hex } from "../../lib/secrets.ts";
import type { Route } from "../../contracts/gateway-link.ts";
import type { Backend } from "../backend.ts";
import { StreamEnded, type ClientStream, type Stream } from "../stream.ts";
import { CommandFramer } from "./framer.ts";
import { OfflineResponder } from "./offline-responder.ts";
import { newSession } from "./session.ts";

const LOGIN = "*3\r\n$4\r\nAUTH\r\n$3\r\napp\r\n$2\r\npw\r\n";
/** As many as one read of the kernel gives. */
const COMMANDS = 13_000;
const REPLY = "-ERR wrong number of arguments for 'auth' command\r\n";

const walks = spyOn(CommandFramer.prototype, "walk");
afterEach(() => walks.mockClear());

/**
 * Sends pieces to the responder of a sleeping cache, and then ends.
 * @returns all replies, and whether the responder closes the connection before that end.
 */
async function serve(pieces: string[]): Promise<{ replies: string; isClosed: boolean }> {
  const left = pieces.map((piece) => Buffer.from(piece));
  let replies = "";
  const client: Partial<ClientStream> = {
    readSome: async () => {
      const piece = left.shift();
      if (piece === undefined) throw new StreamEnded();
      return piece;
    },
    write: (bytes: Uint8Array) => void (replies += Buffer.from(bytes).toString("latin1")),
    identified: () => undefined,
    setDeadline: () => undefined,
  };
  const users = [{ name: "app", verifier: sha256Hex(Buffer.from("pw")) }];
  const entry: Partial<Route> = { id: "cache-1", users, state: "asleep" };
  const parked = { add: () => () => undefined };
  const backend = { entry, parked, connectIfRunning: async () => null };
  const responder = new OfflineResponder(
    client as ClientStream,
    backend as unknown as Backend<ClientStream, Stream>,
    newSession(),
  );
  const end = await responder.run().catch((error: unknown) => error);
  if (end !== null && !(end instanceof StreamEnded)) throw end;
  return { replies, isClosed: end === null };
}

test("each is answered, and the rest of the write is looked at once", async () => {
  const { replies } = await serve([LOGIN, "auth\n".repeat(COMMANDS)]);
  expect(replies).toBe(`+OK\r\n${REPLY.repeat(COMMANDS)}`);
  expect(walks.mock.calls.length).toBeLessThanOrEqual(2);
});

test("other clients have turns meanwhile", async () => {
  let turns = 0;
  const turn = setInterval(() => (turns += 1), 0);
  await serve([LOGIN, "auth\n".repeat(COMMANDS)]);
  clearInterval(turn);
  expect(turns).toBeGreaterThan(10);
});

describe.each(["\n", "\r\n", " \t\n", "*0\r\n", "*-1\r\n"])("the empty command %j", (empty) => {
  const some = empty.repeat(Math.floor(60_000 / empty.length));

  test("may precede a login, and counts no more after it", async () => {
    expect(await serve([some, LOGIN, some, some, "PING\r\n"])).toEqual({
      replies: "+OK\r\n+PONG\r\n",
      isClosed: false,
    });
  });

  test("closes the connection when very many bytes of it precede a login", async () => {
    expect(await serve([some, some, LOGIN])).toEqual({ replies: "", isClosed: true });
  });

  test("counts again after a login that RESET has undone", async () => {
    const { isClosed } = await serve([LOGIN, "RESET\r\n", some, some]);
    expect(isClosed).toBeTrue();
  });
});
