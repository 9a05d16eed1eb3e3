// An answer that is sent as it comes, until its client is gone or does not read, or its maker ends it.

/** How long a client may leave sent bytes unread. */
const SLOW_MS = 30_000;

/** What an endless answer needs. */
export interface EndlessStreamOptions {
  /** The text of the answer, piece by piece. The signal is aborted at the end of the stream. */
  chunksOf(ended: AbortSignal): AsyncGenerator<string, void, undefined>;
  /** Called at the end of the stream; more than once does no harm. */
  onEnd(): void;
  /** Aborted when the client disconnects, or the process ends. */
  signals: AbortSignal[];
  slowMs?: number;
}

/** Reads the next piece only when the client has taken the one before. */
export function endlessStream(options: EndlessStreamOptions): ReadableStream<Uint8Array> {
  const { chunksOf, onEnd, slowMs = SLOW_MS, signals } = options;
  const encoder = new TextEncoder();
  const ending = new AbortController();
  const ended = AbortSignal.any([ending.signal, ...signals]);
  const chunks = chunksOf(ended);
  let slowTimer: ReturnType<typeof setTimeout> | undefined;
  const end = () => {
    clearTimeout(slowTimer);
    ending.abort();
    onEnd();
  };
  ended.addEventListener("abort", end);
  // Also ends a stream that is never read, such as the stream of a HEAD request.
  const limitSlowness = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    slowTimer = setTimeout(() => {
      end();
      controller.error(new Error("the client does not read"));
    }, slowMs);
  };
  return new ReadableStream<Uint8Array>(
    {
      start: limitSlowness,
      async pull(controller) {
        clearTimeout(slowTimer);
        try {
          const { value, done } = await chunks.next();
          if (done === true || ended.aborted) {
            end();
            return controller.close();
          }
          controller.enqueue(encoder.encode(value));
          limitSlowness(controller);
        } catch (error) {
          // The store is away. The client reconnects.
          end();
          controller.error(error);
        }
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  );
}

/** The delay after which a client that lost its stream of events reconnects. */
export const RETRY_MS = 1_000;
/** The interval of heartbeats, with which both ends notice a lost connection. */
export const HEARTBEAT_MS = 15_000;
/** A heartbeat: a comment, which clients skip. */
export const HEARTBEAT = ":\n\n";
