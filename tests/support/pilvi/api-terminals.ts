// The terminals of commands at the API, as its clients open them.
import type { Driver } from "../../../src/drivers/driver.ts";

/** What a connection ended with. */
interface Closing {
  code: number;
  reason: string;
}

/** Opens terminals at a Pilvi with a token, and keeps how the latest connection ended. */
export class ApiTerminals implements Pick<Driver, "openTerminal"> {
  readonly #url: string;
  readonly #headers: Record<string, string>;
  #closing = Promise.withResolvers<Closing>();

  /** @param url for example `http://127.0.0.1:40000`. */
  constructor(url: string, headers: Record<string, string>) {
    this.#url = url.replace(/^http/, "ws");
    this.#headers = headers;
  }

  /** How the latest connection ended. */
  get closing(): Promise<Closing> {
    return this.#closing.promise;
  }

  readonly openTerminal: Driver["openTerminal"] = async (id, { columns, rows }, events) => {
    const address = `${this.#url}/api/commands/${id}/terminal?columns=${columns}&rows=${rows}`;
    const socket = new WebSocket(address, { headers: this.#headers });
    socket.binaryType = "nodebuffer";
    const closing = Promise.withResolvers<Closing>();
    this.#closing = closing;
    const opened = Promise.withResolvers<void>();
    socket.addEventListener("open", () => opened.resolve());
    socket.addEventListener("error", () => opened.reject(new Error("the handshake was refused")));
    socket.addEventListener("message", ({ data }: MessageEvent<string | Buffer>) => events.received(data));
    socket.addEventListener("close", ({ code, reason }) => {
      closing.resolve({ code, reason });
      events.closed();
    });
    await opened.promise;
    return {
      send: (frame) => socket.send(frame),
      waitingBytes: () => socket.bufferedAmount,
      close: () => socket.close(1000),
    };
  };
}
