// Cuts a stream into parts of one size, the last of which may be shorter.

/** An empty stream has no parts. */
export async function* partsOf(
  stream: AsyncIterable<Uint8Array>,
  partBytes: number,
): AsyncGenerator<Uint8Array> {
  let part = new Uint8Array(partBytes);
  let length = 0;
  for await (const chunk of stream) {
    let taken = 0;
    while (taken < chunk.length) {
      const piece = chunk.subarray(taken, taken + partBytes - length);
      part.set(piece, length);
      length += piece.length;
      taken += piece.length;
      if (length < partBytes) continue;
      yield part;
      part = new Uint8Array(partBytes);
      length = 0;
    }
  }
  if (length > 0) yield part.subarray(0, length);
}
