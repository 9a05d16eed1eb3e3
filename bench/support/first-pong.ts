// Waits for the first answer of a Valkey or Redis over a raw socket, so that no client library is measured.

/**
 * A refused connection is tried again after this time. Without a pause the client would take one of few cores for
 * itself.
 */
const RETRY_MS = 1;
const GIVE_UP_MS = 60_000;

/** The port of a cache and the login. */
export interface CacheAddress {
  port: number;
  username: string;
  password: string;
}

/**
 * Connects, logs in and pings, again and again until the answer is PONG.
 * @param retryMs the pause between tries, in milliseconds.
 * @returns when the PONG came, in milliseconds of `performance.now()`.
 */
export async function firstPong(
  { port, username, password }: CacheAddress,
  retryMs = RETRY_MS,
): Promise<number> {
  const request = command("AUTH", username, password) + command("PING");
  const giveUpAt = performance.now() + GIVE_UP_MS;
  while (!(await answersPong(port, request))) {
    if (performance.now() > giveUpAt) throw new Error(`nothing answered on port ${port}`);
    await Bun.sleep(retryMs);
  }
  return performance.now();
}

/** Whether a try ended with a PONG; false when the connection or the login was refused. */
async function answersPong(port: number, request: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  let answer = "";
  const connecting = Bun.connect({
    hostname: "127.0.0.1",
    port,
    socket: {
      open: (socket) => void socket.write(request),
      data: (_, chunk) => {
        answer += chunk.toString("latin1");
        if (answer === "+OK\r\n+PONG\r\n") resolve(true);
        else if (answer.includes("-")) resolve(false);
      },
      close: () => resolve(false),
      error: () => resolve(false),
    },
  });
  try {
    const socket = await connecting;
    const isPong = await promise;
    socket.end();
    return isPong;
  } catch {
    // No server listens there yet.
    return false;
  }
}

/** A command in the protocol of Redis. */
function command(...words: string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join("")}`;
}
