// The gateway's listeners where addresses are taken and descriptors are scarce.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { connect, createServer } from "node:net";
import { HeldSocket } from "../../src/lib/held-socket.ts";
import { Listener } from "../../src/gateway/reactor/listener.ts";
import { libc } from "../../src/gateway/reactor/libc.ts";
import { Loop, Peer } from "../support/gateway/loop.ts";
import { until } from "../support/pilvi/pilvi.ts";
import { freePort } from "../support/pilvi/ports.ts";

const DESCRIPTORS = 64;
const CLIENTS = 200;

test("an address is free as soon as its listener is closed, although clients were connected", async () => {
  const loop = new Loop();
  const port = freePort();
  const where = { address: "127.0.0.1", port };
  for (let count = 0; count < 20; count++) {
    const accepted: number[] = [];
    const listener = new Listener(loop.reactor, HeldSocket.bind(where).fd, (fd) => accepted.push(fd));
    const peer = Peer.connect(port);
    await loop.until(() => accepted.length === 1);
    listener.close();
    listener.close();
    for (const fd of accepted) libc.close(fd);
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
  const listener = new Listener(loop.reactor, HeldSocket.bind({ address, port }).fd, (fd, peer) => {
    accepted.push(peer);
    libc.close(fd);
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
