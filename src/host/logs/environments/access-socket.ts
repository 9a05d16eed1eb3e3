// The host's unix socket for the lines that the edge writes about requests. The edge keeps lines in memory while the
// host is away, and never waits for it.
import { chmodSync, chownSync, mkdirSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { socketAddress } from "../../../lib/unix-socket.ts";
import { canSwitchUsers } from "../../os/accounts.ts";

/** A longer line is none of the edge's. */
const MAX_LINE_LENGTH = 16 * 1024;

export class AccessSocket {
  readonly #path: string;
  readonly #onLine: (line: string) => void;
  #listener: Bun.UnixSocketListener<{ rest: string }> | null = null;

  constructor(path: string, onLine: (line: string) => void) {
    this.#path = path;
    this.#onLine = onLine;
  }

  /** Begins to listen, for this user alone until `admit`. */
  listen(): void {
    mkdirSync(dirname(this.#path), { recursive: true, mode: 0o711 });
    rmSync(this.#path, { force: true });
    this.#listener = Bun.listen<{ rest: string }>({
      unix: socketAddress(this.#path),
      data: { rest: "" },
      socket: {
        open: (socket) => {
          socket.data = { rest: "" };
        },
        data: (socket, bytes) => {
          // Anything but ASCII is escaped in the lines.
          const parts = (socket.data.rest + Buffer.from(bytes).toString("latin1")).split("\n");
          socket.data.rest = parts.pop() ?? "";
          for (const line of parts) this.#onLine(line);
          if (socket.data.rest.length > MAX_LINE_LENGTH) socket.data.rest = "";
        },
      },
    });
    chmodSync(this.#path, 0o600);
  }

  /** Lets the user of the edge write. */
  admit(uid: number): void {
    if (canSwitchUsers()) chownSync(this.#path, uid, 0);
  }

  close(): void {
    this.#listener?.stop(true);
    this.#listener = null;
  }
}
