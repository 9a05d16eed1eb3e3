// Waits until a server of the tests accepts connections, which its standard error shows.

/**
 * Resolves when the text has appeared; later output is discarded, or the pipe would fill up.
 * @param server its name in the error when it ends before.
 */
export async function untilSaid(
  stderr: ReadableStream<Uint8Array>,
  wanted: string,
  server: string,
): Promise<void> {
  const reader = stderr.getReader();
  const decoder = new TextDecoder();
  let text = "";
  while (!text.includes(wanted)) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`${server} did not start: ${text}`);
    text += decoder.decode(value, { stream: true });
  }
  const drain = async () => {
    while (!(await reader.read()).done);
  };
  drain().catch(() => {});
}
