// Adds lines to the answer to a push, which git shows as `remote: …` while the person waits.
import { ByteReader } from "./byte-reader.ts";
import { channelPacket, CHANNELS, FLUSH, packetLength } from "./packets.ts";

/** The longest text of a packet. */
const MAX_TEXT = 60_000;

/**
 * Passes the packets of an answer on, and puts texts before the last packet. An answer without channels, as git gives to
 * clients that know none, is passed on as it is.
 */
export async function* withProgress(
  parts: AsyncIterable<Uint8Array>,
  texts: () => AsyncIterable<string>,
): AsyncGenerator<Uint8Array> {
  const reader = new ByteReader(parts, Infinity);
  for (;;) {
    const head = await reader.read(4);
    const text = head.toString("latin1");
    if (text === FLUSH) {
      const rest = await reader.read(1);
      if (rest.length === 0) {
        yield* packetsOf(texts());
        yield head;
        return;
      }
      yield Buffer.concat([head, rest]);
      yield* reader.pieces(Infinity);
      return;
    }
    yield head;
    const length = packetLength(text) - head.length;
    if (!(length > 0)) break;
    const body = await reader.read(length);
    yield body;
    if (!isChannel(body)) break;
  }
  yield* reader.pieces(Infinity);
}

function isChannel(body: Buffer): boolean {
  const channel = body[0] ?? 0;
  return channel >= 1 && channel <= 3;
}

async function* packetsOf(texts: AsyncIterable<string>): AsyncGenerator<Buffer> {
  for await (const text of texts) {
    const bytes = Buffer.from(text);
    // An empty packet shows nothing, and keeps the connection from counting as idle.
    if (bytes.length === 0) yield channelPacket(CHANNELS.progress, bytes);
    for (let at = 0; at < bytes.length; at += MAX_TEXT)
      yield channelPacket(CHANNELS.progress, bytes.subarray(at, at + MAX_TEXT));
  }
}
