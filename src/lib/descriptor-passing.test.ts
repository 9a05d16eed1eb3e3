// Descriptors that are handed from one socket to another, and the sockets that keep addresses.
import { afterEach, expect, test } from "bun:test";
import { fstatSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../tests/support/pilvi/ports.ts";
import {
  acceptForPassing,
  connectForPassing,
  listenForPassing,
  pairForPassing,
  passDescriptors,
  takeDescriptors,
} from "./descriptor-passing.ts";
import { HeldSocket } from "./held-socket.ts";
import { sockets } from "./socket-calls.ts";

const open: number[] = [];
afterEach(() => {
  for (const fd of open.splice(0)) sockets.close(fd);
});

function pair(): [number, number] {
  const ends = pairForPassing();
  open.push(...ends);
  return ends;
}

test("a passed descriptor arrives as a new descriptor of the same file", () => {
  const [from, to] = pair();
  const file = openSync(import.meta.path, "r");
  open.push(file);
  expect(passDescriptors(from, { text: "böse", descriptors: [file, file] })).toBe("sent");
  const delivery = takeDescriptors(to);
  if (typeof delivery === "string") throw new Error(delivery);
  open.push(...delivery.descriptors);
  expect(delivery.text).toBe("böse");
  expect(delivery.descriptors.map((fd) => fstatSync(fd).ino)).toEqual(Array(2).fill(fstatSync(file).ino));
  expect(delivery.descriptors).not.toContain(file);
});

test("an empty socket, a full socket and an ended socket are distinguished", () => {
  const [from, to] = pair();
  expect(takeDescriptors(to)).toBe("nothing");
  let sent = 0;
  while (passDescriptors(from, { text: "x", descriptors: [] }) === "sent") sent += 1;
  expect(passDescriptors(from, { text: "x", descriptors: [] })).toBe("full");
  for (let count = 0; count < sent; count++)
    expect(takeDescriptors(to)).toEqual({ text: "x", descriptors: [] });
  const [left, right] = pairForPassing();
  open.push(right);
  passDescriptors(left, { text: "last", descriptors: [] });
  sockets.close(left);
  expect(takeDescriptors(right)).toEqual({ text: "last", descriptors: [] });
  expect(takeDescriptors(right)).toBe("ended");
  expect(passDescriptors(right, { text: "x", descriptors: [] })).toBe("broken");
});

test("a message that was sent before its connection was accepted arrives afterwards", () => {
  const folder = mkdtempSync(join(tmpdir(), "pilvi-passing-"));
  const path = join(folder, "socket");
  expect(connectForPassing(path)).toBeNull();
  const listener = listenForPassing(path);
  expect(acceptForPassing(listener)).toBeNull();
  const client = connectForPassing(path) ?? -1;
  expect(passDescriptors(client, { text: "early", descriptors: [client] })).toBe("sent");
  const server = acceptForPassing(listener) ?? -1;
  open.push(listener, client, server);
  const delivery = takeDescriptors(server);
  if (typeof delivery === "string") throw new Error(delivery);
  open.push(...delivery.descriptors);
  expect([delivery.text, delivery.descriptors.length]).toEqual(["early", 1]);
  rmSync(folder, { recursive: true });
});

/** Whether a program that allows the reuse of an address, as most do, can listen there. */
async function canListen(port: number): Promise<boolean> {
  const server = createServer().listen(port, "127.0.0.1");
  const isListening = await new Promise<boolean>((resolve) => {
    server.once("listening", () => resolve(true)).once("error", () => resolve(false));
  });
  if (isListening) await new Promise((resolve) => server.close(resolve));
  return isListening;
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}

test("an address is kept while a socket listens at it or reserves it, and admits another listener on request only", async () => {
  const place = { address: "127.0.0.1", port: freePort() };
  const held = HeldSocket.bind(place);
  expect(() => HeldSocket.bind(place)).toThrow(`Port ${place.port} is in use by another program`);
  expect([await canConnect(place.port), await canListen(place.port)]).toEqual([true, false]);
  for (let count = 0; count < 2; count++) held.reserve();
  expect([await canConnect(place.port), await canListen(place.port)]).toEqual([false, false]);
  held.admit();
  expect(await canListen(place.port)).toBe(true);
  held.listen();
  expect([await canConnect(place.port), await canListen(place.port)]).toEqual([true, false]);
  held.reserve();
  held.admit();
  const engine = HeldSocket.bind(place);
  held.reserve();
  expect(() => held.listen()).toThrow(`Port ${place.port} is in use by another program`);
  engine.close();
  expect(await canListen(place.port)).toBe(false);
  held.close();
  expect(await canListen(place.port)).toBe(true);
});

test("a descriptor that is not a socket of the wanted address is refused and closed", () => {
  const [one, other] = [freePort(), freePort()].map((port) => ({ address: "127.0.0.1", port }));
  if (one === undefined || other === undefined) throw new Error("no ports");
  const held = HeldSocket.bind(one);
  expect(HeldSocket.from(held.fd, one)?.place).toEqual(one);
  expect(HeldSocket.from(held.fd, other)).toBeNull();
  const file = openSync(import.meta.path, "r");
  expect(HeldSocket.from(file, one)).toBeNull();
  expect(() => fstatSync(file)).toThrow();
});
