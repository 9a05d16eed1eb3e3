// A listener in a process of its own, which may be short of descriptors: greets each client and keeps it until it
// leaves.
import { writeSync } from "node:fs";
import { HeldSocket } from "../../../src/lib/held-socket.ts";
import { Listener } from "../../../src/gateway/sockets/listener.ts";
import { SocketPool } from "../../../src/gateway/sockets/socket-pool.ts";
import { SocketStream } from "../../../src/gateway/sockets/socket-stream.ts";
import { RuntimeTimers } from "../../../src/gateway/sockets/timers.ts";

function fail(error: unknown): never {
  throw error;
}

const pool = new SocketPool(new RuntimeTimers(fail), fail);
// The listener stays open: the parent ends this process.
void new Listener(
  pool,
  HeldSocket.bind({ address: "127.0.0.1", port: Number(process.argv[2]) }).fd,
  (socket) => {
    const stream = new SocketStream(pool);
    stream.adopt(socket);
    stream.onPeerEnd(() => stream.end());
    stream.write(Buffer.from("welcome"));
  },
);
writeSync(1, "listening\n");
