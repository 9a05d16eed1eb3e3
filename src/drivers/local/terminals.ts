// The terminals of commands: a WebSocket over the host's unix socket for each.
import { hostPath } from "../../contracts/versions.ts";
import type { TerminalSize } from "../../contracts/terminal.ts";
import { PublicError } from "../../lib/errors.ts";
import { socketAddress } from "../../lib/unix-socket.ts";
import type { OpenTerminal, TerminalEvents } from "../driver.ts";

/** How long the host may take to open a terminal. */
const OPENING_MS = 10_000;

/** @throws PublicError when the host does not answer, or the command has no terminal to open. */
export async function openTerminal(
  socketPath: string,
  { id, size: { columns, rows } }: { id: string; size: TerminalSize },
  events: TerminalEvents,
): Promise<OpenTerminal> {
  const path = hostPath(`/builds/${encodeURIComponent(id)}/terminal`);
  const socket = new WebSocket(
    `ws+unix://${socketAddress(socketPath)}:${path}?columns=${columns}&rows=${rows}`,
  );
  socket.binaryType = "nodebuffer";
  const opened = Promise.withResolvers<void>();
  const timer = setTimeout(() => socket.terminate(), OPENING_MS);
  let isOpen = false;
  socket.addEventListener("open", () => {
    isOpen = true;
    opened.resolve();
  });
  // The close says all; without a listener an error would be thrown.
  socket.addEventListener("error", () => undefined);
  socket.addEventListener("close", () => {
    if (isOpen) return events.closed();
    opened.reject(new PublicError("The terminal of the command cannot be opened."));
  });
  socket.addEventListener("message", ({ data }: MessageEvent<string | Buffer>) => events.received(data));
  await opened.promise.finally(() => clearTimeout(timer));
  return {
    send: (frame) => socket.send(frame),
    waitingBytes: () => socket.bufferedAmount,
    close: () => socket.close(1000),
  };
}
