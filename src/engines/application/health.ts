// Asks an application whether it is ready: its port accepts, and its health path answers below 500.
import { connect } from "node:net";
import { isListening } from "../../lib/port-probe.ts";

/** How long an answer may take. */
const ANSWER_TIMEOUT_MS = 5_000;

/** Enough for the first line of an answer; the host reads no more of what a customer's program sends. */
const STATUS_BYTES = 32;

/** Whether the port accepts and, with a path, answers with a status below 500. */
export async function answersAt(address: string, port: number, path: string | null): Promise<boolean> {
  if (!isListening(address, port)) return false;
  return path === null || (await answersWell(address, port, path));
}

function answersWell(address: string, port: number, path: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  let head = "";
  const socket = connect({ host: address, port });
  const end = (isReady: boolean) => {
    socket.destroy();
    resolve(isReady);
  };
  socket.setTimeout(ANSWER_TIMEOUT_MS, () => end(false));
  socket.on("connect", () => {
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: ${address}:${port}\r\nUser-Agent: pilvi-health\r\nAccept: */*\r\nConnection: close\r\n\r\n`,
    );
  });
  socket.on("data", (bytes) => {
    head += bytes.toString("latin1", 0, STATUS_BYTES);
    const status = /^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1];
    if (status !== undefined || head.length >= STATUS_BYTES)
      end(status !== undefined && Number(status) < 500);
  });
  socket.on("error", () => end(false));
  socket.on("close", () => end(false));
  return promise;
}
