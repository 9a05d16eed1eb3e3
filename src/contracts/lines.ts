// Splits a stream of bytes into its lines.
import { ContractError } from "./read.ts";

/**
 * Yields each complete line, without its end; an incomplete last line is dropped.
 * @param maxLength the most characters of a line.
 * @throws ContractError at a longer line.
 */
export async function* readLines(
  stream: AsyncIterable<Uint8Array>,
  maxLength = Number.POSITIVE_INFINITY,
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > maxLength) throw new ContractError("A line is longer than agreed.");
    yield* lines;
  }
}
