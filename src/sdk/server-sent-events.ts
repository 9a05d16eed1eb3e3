// Reads Server-Sent Events out of a stream of bytes.

/** A message of the stream. */
export interface StreamMessage {
  id: string | undefined;
  /** Whether it is an event without a name of its own. */
  isEvent: boolean;
  data: string;
}

/** A server that is silent for this long is gone; it would have sent a comment. */
const SILENCE_MS = 60_000;

/** Yields each complete message; a last message that was cut off is dropped. */
export async function* messagesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamMessage> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await within(reader.read(), SILENCE_MS);
      if (done) return;
      const blocks = (rest + decoder.decode(value, { stream: true })).split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const message = messageIn(block);
        if (message !== undefined) yield message;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** @throws when the promise takes longer. */
async function within<T>(promise: Promise<T>, ms: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("the stream is silent")), ms);
  });
  try {
    return await Promise.race([promise, silence]);
  } finally {
    clearTimeout(timer);
  }
}

/** Undefined for a comment, and for a message that only sets the reconnection time. */
function messageIn(block: string): StreamMessage | undefined {
  const fields = new Map(
    block.split("\n").map((line) => {
      const [name = "", ...value] = line.split(": ");
      return [name, value.join(": ")];
    }),
  );
  const data = fields.get("data");
  return data === undefined ? undefined : { id: fields.get("id"), isEvent: !fields.has("event"), data };
}
