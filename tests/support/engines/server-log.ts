// Waits until a server of the tests takes connections, which it says on its standard error.

/**
 * Resolves when the text has been said; the rest of what the server says is thrown away, or the pipe would fill up.
 * @param server what it is called in the error when it ends before.
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
