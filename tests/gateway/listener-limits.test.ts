// The gateway's listeners where addresses are taken and descriptors are scarce.
import { expect, test } from "bun:test";
import type { Socket } from "bun";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { connect, createServer } from "node:net";
import { BACKLOG, HeldSocket, isListening } from "../../src/lib/held-socket.ts";
import { IPPROTO_TCP, memoryOf, sockets, SOL_SOCKET } from "../../src/lib/socket-calls.ts";
import { Listener } from "../../src/gateway/sockets/listener.ts";
import type { SocketOwner } from "../../src/gateway/sockets/handlers.ts";
import { Loop, Peer } from "../support/gateway/loop.ts";
import { until } from "../support/pilvi/pilvi.ts";
import { freePort } from "../support/pilvi/ports.ts";

const DESCRIPTORS = 64;
const CLIENTS = 200;
const FLOOD = 500;
const TCP_INFO = 11;
/** TCP_NODELAY, SO_KEEPALIVE, TCP_KEEPIDLE, TCP_KEEPINTVL and TCP_KEEPCNT. */
const KEPT_OPTIONS = [
  [IPPROTO_TCP, 1],
  [SOL_SOCKET, 9],
  [IPPROTO_TCP, 4],
  [IPPROTO_TCP, 5],
  [IPPROTO_TCP, 6],
] as const;

test("an address is free as soon as its listener is closed, although clients were connected", async () => {
  const loop = new Loop();
  const port = freePort();
  const where = { address: "127.0.0.1", port };
  for (let count = 0; count < 20; count++) {
    const accepted: Socket<SocketOwner>[] = [];
    const listener = new Listener(loop.pool, HeldSocket.bind(where).fd, (socket) => accepted.push(socket));
    const peer = Peer.connect(port);
    await loop.until(() => accepted.length === 1);
    listener.close();
    listener.close();
    for (const socket of accepted) socket.close();
    peer.close();
  }
  const server = createServer().listen(port, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  await new Promise((resolve) => server.close(resolve));
  loop.close();
});

test.each(["::1", "::"])("%s takes clients of IPv6", async (address) => {
  const loop = new Loop();
  const port = freePort();
  const accepted: string[] = [];
  const listener = new Listener(loop.pool, HeldSocket.bind({ address, port }).fd, (socket, peer) => {
    accepted.push(peer);
    socket.close();
  });
  const hosts = address === "::" ? ["::1", "127.0.0.1"] : ["::1"];
  for (const host of hosts) {
    const socket = connect(port, host).on("error", () => {});
    const before = accepted.length;
    await loop.until(() => accepted.length > before);
    socket.destroy();
  }
  expect(accepted.map((peer) => peer.replace(/:\d+$/, ""))).toEqual(
    hosts.map((host) => host.replace("::1", "[::1]")),
  );
  listener.close();
  loop.close();
});

test("clients beyond the process's descriptors wait without using the processor, and are all served", async () => {
  const port = freePort();
  const program = join(import.meta.dir, "../support/gateway/crowded-gateway.ts");
  const command = [
    "bash",
    "-c",
    `ulimit -n ${DESCRIPTORS} && exec "$@"`,
    "bash",
    process.execPath,
    program,
    String(port),
  ];
  const gateway = Bun.spawn(command, { stdio: ["ignore", "pipe", "inherit"] });
  const peers: Peer[] = [];
  try {
    await gateway.stdout.getReader().read();
    for (let count = 0; count < CLIENTS; count++) peers.push(Peer.connect(port));
    const greeted = () => peers.filter((peer) => peer.text === "welcome").length;
    await until("all descriptors are used", () => greeted() > 20);
    const [startedAt, usedMs] = [performance.now(), processorMs(gateway.pid)];
    await until("some time is over", () => performance.now() - startedAt > 500);
    const used = (processorMs(gateway.pid) - usedMs) / (performance.now() - startedAt);
    expect(greeted()).toBeLessThan(DESCRIPTORS);
    expect(used).toBeLessThan(0.2);
    await until("all have been served", () => {
      for (const peer of peers) if (peer.text === "welcome") peer.close();
      for (const peer of peers.splice(0)) if (!peer.isClosed) peers.push(peer);
      return peers.length === 0;
    });
  } finally {
    for (const peer of peers) peer.close();
    gateway.kill("SIGKILL");
    await gateway.exited;
  }
});

/** Processor time that a process has used (proc(5)). */
function processorMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "latin1")
    .replace(/^.*\) /, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

test("a socket whose address was taken back does not listen again", async () => {
  const loop = new Loop();
  const held = HeldSocket.bind({ address: "127.0.0.1", port: freePort() });
  held.reserve();
  const listener = new Listener(loop.pool, held.fd, (socket) => void socket.close());
  expect([listener.isClosed, loop.faults]).toEqual([true, []]);
  expect(() => Peer.connect(held.place.port)).toThrow();
  loop.close();
});

test("as many clients wait for a listener as the host has asked the kernel for", async () => {
  const loop = new Loop();
  const port = freePort();
  const listener = new Listener(loop.pool, HeldSocket.bind({ address: "127.0.0.1", port }).fd, (socket) => {
    socket.close();
  });
  expect(queueOf(listener.fd)).toBe(Math.min(BACKLOG, Number(readFileSync("/proc/sys/net/core/somaxconn"))));
  listener.close();
  loop.close();
});

test("a flood at an address delays no client of another address", async () => {
  const loop = new Loop();
  const ports = [freePort(), freePort()] as const;
  const accepted: number[] = [];
  const listeners = ports.map(
    (port) =>
      new Listener(loop.pool, HeldSocket.bind({ address: "127.0.0.1", port }).fd, (socket) => {
        accepted.push(port);
        socket.close();
      }),
  );
  const [flooded, other] = ports;
  // All wait in the kernel's queues before the listeners look, the crowd first.
  const peers = Array.from({ length: FLOOD }, () => Peer.connect(flooded));
  peers.push(Peer.connect(other));
  await loop.until(() => accepted.length === peers.length);
  expect(accepted.indexOf(other)).toBeLessThan(FLOOD / 10);
  for (const peer of peers) peer.close();
  for (const listener of listeners) listener.close();
  expect(loop.faults).toEqual([]);
  loop.close();
});

test("a client's socket sends at once, and notices within two minutes that the client has vanished", async () => {
  const loop = new Loop();
  const port = freePort();
  const found: number[][] = [];
  const listener = new Listener(loop.pool, HeldSocket.bind({ address: "127.0.0.1", port }).fd, (socket) => {
    found.push(KEPT_OPTIONS.map(([level, option]) => optionOf(socket.fd, level, option)));
    socket.close();
  });
  const peer = Peer.connect(port);
  await loop.until(() => found.length === 1);
  expect(found).toEqual([[1, 1, 60, 15, 4]]);
  peer.close();
  listener.close();
  loop.close();
});

function optionOf(fd: number, level: number, option: number): number {
  const [value, length] = [new Int32Array(1), new Uint32Array([4])];
  sockets.getsockopt(fd, level, option, memoryOf(value), memoryOf(length));
  return value[0] ?? -1;
}

test("clients that have gone before they are accepted end a turn as others do", async () => {
  const loop = new Loop();
  const port = freePort();
  const listener = new Listener(loop.pool, HeldSocket.bind({ address: "127.0.0.1", port }).fd, (socket) => {
    socket.close();
  });
  for (let count = 0; count < FLOOD; count += 1) Peer.connect(port).reset();
  let turns = 0;
  await loop.until(() => {
    turns += 1;
    return waitingAt(listener.fd) === 0;
  });
  expect(turns).toBeGreaterThan(FLOOD / 10);
  listener.close();
  expect(loop.faults).toEqual([]);
  loop.close();
});

test("floods at many addresses take no longer turns than a flood at one", async () => {
  const loop = new Loop();
  const ports = Array.from({ length: 20 }, () => freePort());
  let turn = 0;
  const perTurn = new Map<number, number>();
  let accepted = 0;
  const listeners = ports.map(
    (port) =>
      new Listener(loop.pool, HeldSocket.bind({ address: "127.0.0.1", port }).fd, (socket) => {
        if (!perTurn.has(turn)) setImmediate(() => (turn += 1));
        perTurn.set(turn, (perTurn.get(turn) ?? 0) + 1);
        accepted += 1;
        socket.close();
      }),
  );
  const peers = ports.flatMap((port) => Array.from({ length: 40 }, () => Peer.connect(port)));
  await loop.until(() => accepted === peers.length);
  // Beyond 32, each listener takes a single client.
  expect(Math.max(...perTurn.values())).toBeLessThanOrEqual(32 + ports.length);
  for (const peer of peers) peer.close();
  for (const listener of listeners) listener.close();
  expect(loop.faults).toEqual([]);
  loop.close();
});

test.each([
  ["passed on", (listener: Listener) => expect(isListening(listener.fd)).toBe(true)],
  ["closed", (listener: Listener) => listener.close()],
] as const)("a listener can be %s in a turn in which it accepts no more clients", async (_, act) => {
  const loop = new Loop();
  const port = freePort();
  let accepted = 0;
  let [wasCovered, isDone] = [false, false];
  const listener: Listener = new Listener(
    loop.pool,
    HeldSocket.bind({ address: "127.0.0.1", port }).fd,
    (socket) => {
      accepted += 1;
      socket.close();
      if (accepted !== 1) return;
      // Runs at the end of the turn, before the listener has its clients again.
      setImmediate(() => {
        wasCovered = accepted < FLOOD;
        act(listener);
        isDone = true;
      });
    },
  );
  const peers = Array.from({ length: FLOOD }, () => Peer.connect(port));
  await loop.until(() => isDone && (listener.isClosed || accepted === FLOOD));
  expect(wasCovered).toBe(true);
  listener.close();
  expect(() => Peer.connect(port)).toThrow();
  for (const peer of peers) peer.close();
  expect(loop.faults).toEqual([]);
  loop.close();
});

/** How many clients wait at a listening socket, in the member of `struct tcp_info` that says so (tcp(7)). */
function waitingAt(fd: number): number {
  return tcpInfo(fd)[6] ?? 0;
}

/** How many clients may wait there. */
function queueOf(fd: number): number {
  return tcpInfo(fd)[7] ?? 0;
}

function tcpInfo(fd: number): Uint32Array {
  const [info, length] = [new Uint32Array(8), new Uint32Array([32])];
  sockets.getsockopt(fd, IPPROTO_TCP, TCP_INFO, memoryOf(info), memoryOf(length));
  return info;
}
