// A listener in a process of its own, which may be short of descriptors: greets each client and keeps it until it
// leaves.
import { writeSync } from "node:fs";
import { HeldSocket } from "../../../src/lib/held-socket.ts";
import { Listener } from "../../../src/gateway/reactor/listener.ts";
import { Reactor } from "../../../src/gateway/reactor/reactor.ts";
import { SocketStream } from "../../../src/gateway/reactor/socket-stream.ts";

function fail(error: unknown): never {
  throw error;
}

const reactor = new Reactor({ onFault: fail });
// The listener stays open: the parent ends this process.
void new Listener(
  reactor,
  HeldSocket.bind({ address: "127.0.0.1", port: Number(process.argv[2]) }).fd,
  (fd) => {
    const stream = new SocketStream(reactor, fd);
    stream.onGone(() => stream.end());
    stream.write(Buffer.from("welcome"));
  },
);
writeSync(1, "listening\n");
reactor.run();
