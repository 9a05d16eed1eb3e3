// The streams of reports to the host, one for each watcher of an application.
import type { DebugEvent } from "../../contracts/realtime-debug.ts";
import { PublicError } from "../../lib/errors.ts";
import type { Application } from "../application.ts";

/** One for each control process that asks; more are a mistake. */
const MAX_OF_APPLICATION = 8;
/** The most that waits for a reader; reports beyond it are left out. */
const MAX_WAITING_BYTES = 256 * 1024;

/** An open stream. */
interface Stream {
  application: Application;
  close(): void;
}

export class DebugStreams {
  readonly #streams = new Set<Stream>();

  /**
   * Begins to watch an application.
   * @returns a report a line, as JSON, until the signal is aborted.
   * @throws PublicError when the application is watched too often.
   */
  open(application: Application, signal: AbortSignal): ReadableStream<Uint8Array> {
    if ((application.debug?.watchers ?? 0) >= MAX_OF_APPLICATION)
      throw new PublicError("The application is watched too often.");
    const encoder = new TextEncoder();
    let stream: Stream | undefined;
    const close = () => stream?.close();
    const start = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      const send = (event: DebugEvent) => controller.enqueue(encoder.encode(`${JSON.stringify(event)}\n`));
      let omitted = 0;
      const unwatch = application.watch((event) => {
        if ((controller.desiredSize ?? 0) <= 0) {
          omitted += event.type === "omitted" ? event.count : 1;
          return;
        }
        if (omitted > 0) send({ type: "omitted", at: new Date().toISOString(), count: omitted });
        omitted = 0;
        send(event);
      });
      stream = { application, close: () => this.#end(stream, unwatch, controller) };
      this.#streams.add(stream);
      signal.addEventListener("abort", close);
      send({ type: "watching", at: new Date().toISOString() });
    };
    const strategy = new ByteLengthQueuingStrategy({ highWaterMark: MAX_WAITING_BYTES });
    return new ReadableStream<Uint8Array>({ start, cancel: close }, strategy);
  }

  /** Ends the streams of applications that are gone. */
  keepOnly(isThere: (application: Application) => boolean): void {
    for (const stream of this.#streams) if (!isThere(stream.application)) stream.close();
  }

  #end(
    stream: Stream | undefined,
    unwatch: () => void,
    controller: ReadableStreamDefaultController<Uint8Array>,
  ): void {
    if (stream === undefined || !this.#streams.delete(stream)) return;
    unwatch();
    try {
      controller.close();
    } catch {
      // The reader has cancelled the stream.
    }
  }
}
