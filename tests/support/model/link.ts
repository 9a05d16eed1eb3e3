// The host's own link to the gateway, over fake sockets: messages arrive in order, as late as the gateway reads them.
import type { Socket, SocketHandler } from "bun";
import { spyOn } from "bun:test";
import { writeFileSync } from "node:fs";
import { isHello } from "../../../src/contracts/test-support.ts";
import { GATEWAY_LINK_VERSION, helloLine } from "../../../src/contracts/versions.ts";
import type { GatewayMessage, HostMessage, Route } from "../../../src/contracts/gateway-link.ts";
import {
  GatewayLink,
  type GatewayEvents,
  type InstanceGateway,
} from "../../../src/host/gateway/gateway-link.ts";
import type { Log } from "../../../src/lib/log.ts";
import type { ModelGateway } from "./gateway.ts";
import type { Life } from "./machine.ts";

/** Messages that have not arrived. */
class Pipe {
  readonly #messages: (() => void)[] = [];
  isCut = false;

  send(delayMs: number, arrive: () => void): void {
    this.#messages.push(arrive);
    setTimeout(() => {
      const next = this.#messages.shift();
      if (!this.isCut) next?.();
    }, delayMs);
  }
}

/** A connection of the gateway. */
export class ModelConnection {
  readonly #handlers: SocketHandler<unknown>;
  readonly #gateway: ModelGateway;
  readonly #life: Life;
  readonly #pipes = { toHost: new Pipe(), toGateway: new Pipe() };
  readonly #socket: Socket<unknown>;

  constructor(handlers: SocketHandler<unknown>, gateway: ModelGateway, life: Life) {
    this.#handlers = handlers;
    this.#gateway = gateway;
    this.#life = life;
    const socket = { data: null, write: (bytes: Buffer) => this.#take(bytes), terminate: () => this.cut() };
    this.#socket = socket as unknown as Socket<unknown>;
    void handlers.open?.(this.#socket);
    // It exists as soon as the connection does.
    void handlers.data?.(this.#socket, Buffer.from(helloLine(GATEWAY_LINK_VERSION)));
  }

  send(message: GatewayMessage): void {
    const bytes = Buffer.from(`${JSON.stringify(message)}\n`);
    this.#pipes.toHost.send(this.#gateway.delayMs, () => {
      if (!this.#life.isOver) void this.#handlers.data?.(this.#socket, bytes);
    });
  }

  cut(): void {
    const { toHost, toGateway } = this.#pipes;
    if (toHost.isCut) return;
    toHost.isCut = toGateway.isCut = true;
    this.#gateway.wasCut();
    void this.#handlers.close?.(this.#socket);
  }

  #take(bytes: Buffer): number {
    if (this.#life.isOver) return bytes.length;
    for (const line of bytes.toString().trim().split("\n")) {
      if (isHello(line)) continue;
      const message = JSON.parse(line) as HostMessage;
      this.#pipes.toGateway.send(this.#gateway.delayMs, () => this.#gateway.receive(message));
    }
    return bytes.length;
  }
}

export class ModelLink implements InstanceGateway {
  readonly #life: Life;
  readonly #link: GatewayLink;
  #handlers: SocketHandler<unknown> = {};

  constructor(log: Log, socketPath: string, life: Life, events: GatewayEvents) {
    this.#life = life;
    this.#link = new GatewayLink(log);
    const listen = spyOn(Bun, "listen").mockImplementation(((options: { socket: SocketHandler<unknown> }) => {
      this.#handlers = options.socket;
      writeFileSync(socketPath, "");
    }) as never);
    this.#link.listen(socketPath, events);
    listen.mockRestore();
  }

  /** Null when the host is gone. */
  connect(gateway: ModelGateway): ModelConnection | null {
    return this.#life.isOver ? null : new ModelConnection(this.#handlers, gateway, this.#life);
  }

  get contact(): Promise<void> {
    return this.#life.of(this.#link.contact);
  }

  publish(entry: Route, question?: number): void {
    this.#link.publish(entry, question);
  }

  withdraw(id: string): Promise<void> {
    return this.#life.of(this.#link.withdraw(id));
  }

  drain(id: string, withinMs: number, isYielding?: boolean): Promise<boolean> {
    return this.#life.of(this.#link.drain(id, withinMs, isYielding));
  }

  detach(id: string): Promise<boolean> {
    return this.#life.of(this.#link.detach(id));
  }
}
