// Sockets in folders of other users: the socket itself is reached, and never the target of a link.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { socketAddress, withSocket } from "./unix-socket.ts";

let folder: string;
const listeners: Bun.UnixSocketListener<undefined>[] = [];
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), "pilvi-")), "x".repeat(150));
  mkdirSync(folder);
  listenAt("real");
});
afterEach(() => {
  for (const listener of listeners.splice(0)) listener.stop(true);
  rmSync(join(folder, ".."), { recursive: true, force: true });
});

/** Sends its name to every client. */
function listenAt(name: string): void {
  const socket = { open: (client: Bun.Socket) => void client.end(name), data: () => undefined };
  listeners.push(Bun.listen({ unix: socketAddress(join(folder, name)), socket }));
}

async function greetingAt(name: string, meanwhile: () => void = () => undefined): Promise<string> {
  return await withSocket(join(folder, name), async (unix) => {
    meanwhile();
    const { promise, resolve } = Promise.withResolvers<string>();
    await Bun.connect({ unix, socket: { data: (_, bytes) => resolve(bytes.toString()) } });
    return await promise;
  });
}

function putLink(name: string): void {
  rmSync(join(folder, name), { force: true });
  symlinkSync(join(folder, "real"), join(folder, name));
}

test("a socket is reached, however long its path is", async () => {
  expect(await greetingAt("real")).toBe("real");
});

test("a link to a socket is not followed", async () => {
  putLink("link");
  await expect(greetingAt("link")).rejects.toThrow("is not a socket");
});

test("a link that takes the place of the socket meanwhile is not followed", async () => {
  listenAt("other");
  expect(await greetingAt("other", () => putLink("other"))).toBe("other");
});

test("a file that is not a socket, or is not there, is an error", async () => {
  writeFileSync(join(folder, "file"), "");
  await expect(greetingAt("file")).rejects.toThrow("is not a socket");
  await expect(greetingAt("nothing")).rejects.toThrow("ENOENT");
});
