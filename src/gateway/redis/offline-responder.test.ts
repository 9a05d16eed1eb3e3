// Many commands in one write, which the gateway answers itself while the cache sleeps.
import { afterEach, expect, spyOn, test } from "bun:test";
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

/** Sends pieces to the responder of a sleeping cache, and then ends. @returns all replies. */
async function repliesTo(pieces: string[]): Promise<string> {
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
  await expect(responder.run()).rejects.toBeInstanceOf(StreamEnded);
  return replies;
}

test("each is answered, and the rest of the write is looked at once", async () => {
  const replies = await repliesTo([LOGIN, "auth\n".repeat(COMMANDS)]);
  expect(replies).toBe(`+OK\r\n${REPLY.repeat(COMMANDS)}`);
  expect(walks.mock.calls.length).toBeLessThanOrEqual(2);
});

test("other clients have turns meanwhile", async () => {
  let turns = 0;
  const turn = setInterval(() => (turns += 1), 0);
  await repliesTo([LOGIN, "auth\n".repeat(COMMANDS)]);
  clearInterval(turn);
  expect(turns).toBeGreaterThan(10);
});
