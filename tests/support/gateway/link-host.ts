// The host's end of the link with the gateway, played by a test.
import type { Socket } from "bun";
import { isHello } from "../../../src/contracts/test-support.ts";
import { GATEWAY_LINK_VERSION, helloLine } from "../../../src/contracts/versions.ts";
import type { GatewayMessage, HostMessage, Route } from "../../../src/contracts/gateway-link.ts";
import { Addresses } from "../../../src/host/os/addresses.ts";
import { createLog } from "../../../src/lib/log.ts";

/** A host that sends the test's messages, and hands over the addresses in them. */
export class LinkHost {
  readonly received: GatewayMessage[] = [];
  gateway: Socket<null> | null = null;
  connections = 0;
  readonly addresses = new Addresses(createLog("host", "silent"));
  readonly #listener;
  #unsent = Buffer.alloc(0);

  /** @param hello its first message. */
  constructor(path: string, hello = helloLine(GATEWAY_LINK_VERSION)) {
    void this.addresses.listen(`${path}-addresses`, () => true);
    this.#listener = Bun.listen<null>({
      unix: path,
      data: null,
      socket: {
        open: (socket) => {
          this.gateway = socket;
          this.connections += 1;
          socket.write(hello);
        },
        data: (_, bytes) => {
          for (const line of bytes.toString().trimEnd().split("\n")) this.#receive(line);
        },
        drain: () => this.#flush(),
        close: () => {
          this.gateway = null;
        },
      },
    });
  }

  say(...messages: HostMessage[]): void {
    for (const message of messages) {
      if (message.type === "entry") this.hold(message.entry);
    }
    this.write(linesOf(...messages));
  }

  hold({ id, address, port }: Route): void {
    void this.addresses.hold(id, { address, port }, "gateway");
  }

  /** The gateway's answers; a request for addresses is no answer. */
  get answers(): GatewayMessage[] {
    return this.received.filter(({ type }) => type !== "holding");
  }

  #receive(line: string): void {
    if (isHello(line)) return this.addresses.expect();
    const message = JSON.parse(line) as GatewayMessage;
    this.received.push(message);
    if (message.type === "holding") this.addresses.meet();
    if (message.type === "released") this.addresses.drop(message.id);
  }

  write(text: string): void {
    this.#unsent = Buffer.concat([this.#unsent, Buffer.from(text)]);
    this.#flush();
  }

  #flush(): void {
    const taken = this.gateway?.write(this.#unsent) ?? 0;
    this.#unsent = this.#unsent.subarray(Math.max(0, taken));
  }

  has(type: GatewayMessage["type"], id: string): boolean {
    return this.received.some((message) => "id" in message && message.type === type && message.id === id);
  }

  /** Ends the link with the gateway, which connects again. */
  dismiss(): void {
    this.gateway?.terminate();
  }

  stop(): void {
    this.#listener.stop(true);
    this.addresses.close();
  }
}

export function linesOf(...messages: HostMessage[]): string {
  return messages.map((message) => `${JSON.stringify(message)}\n`).join("");
}
