// An engine that always runs, as the gateway's protocol handlers see it, on the runtime's own sockets.
import type { Backend, MessageFramer, SpliceEnd } from "../../../src/gateway/backend.ts";
import type { Route } from "../../../src/contracts/gateway-link.ts";
import { RuntimeStream, streamHandlers, type RuntimeClient } from "./streams.ts";

export class RuntimeBackend implements Backend<RuntimeClient, RuntimeStream> {
  readonly isCrowded = false;
  readonly entry: Route;
  /** When it was used last; the gateway updates this time for every chunk. */
  usedAtMs = 0;

  constructor(entry: Route) {
    this.entry = entry;
  }

  async settled(): Promise<"running"> {
    return "running";
  }

  async connect(_: RuntimeClient, _reason: unknown, begun?: RuntimeStream): Promise<RuntimeStream> {
    if (begun !== undefined && !begun.isEnded) return begun;
    return await this.connectIfRunning();
  }

  async connectIfRunning(): Promise<RuntimeStream> {
    const stream = new RuntimeStream();
    stream.adopt(await Bun.connect({ unix: this.entry.socket, data: stream, socket: streamHandlers }));
    return stream;
  }

  async pause(_: RuntimeClient, ms: number): Promise<void> {
    await Bun.sleep(ms);
  }

  async refreshUsers(): Promise<void> {
    // The users never change.
  }

  loggedIn(): void {
    // No engine was woken.
  }

  splice(client: RuntimeClient, engine: RuntimeStream, framer?: MessageFramer): Promise<SpliceEnd> {
    const { promise, resolve } = Promise.withResolvers<SpliceEnd>();
    const end = () => {
      client.end();
      engine.end();
      resolve("closed");
    };
    client.consume({
      received: (bytes) => {
        if (framer === undefined || framer.walk(bytes, bytes.length)) this.usedAtMs = performance.now();
        engine.send(bytes);
        if (engine.hasUnsent) client.pause(true);
      },
      drained: () => engine.pause(false),
      ended: end,
    });
    engine.consume({
      received: (bytes) => {
        this.usedAtMs = performance.now();
        framer?.observe?.(bytes, bytes.length);
        client.send(bytes);
        if (client.hasUnsent) engine.pause(true);
      },
      drained: () => client.pause(false),
      ended: end,
    });
    return promise;
  }
}
