// The terminals of commands on the host's socket: each is a WebSocket of the control plane, which speaks for a client.
import { MAX_CLIENT_FRAME, terminalSizeSchema } from "../../contracts/terminal.ts";
import { readAs } from "../../contracts/read.ts";
import { hostPath } from "../../contracts/versions.ts";
import { PublicError } from "../../lib/errors.ts";
import type { HostBuilds } from "./host-builds.ts";
import type { TerminalSession } from "./terminal-session.ts";

/** What a connection belongs to. */
export interface TerminalOfSocket {
  session: TerminalSession;
}

/** The route that opens the terminal of a command that runs. */
export function terminalRoutes(builds: HostBuilds) {
  return {
    [hostPath("/builds/:id/terminal")]: {
      GET: (request: Bun.BunRequest<"/:id">, server: Bun.Server<TerminalOfSocket>) => {
        const { searchParams } = new URL(request.url);
        const asked = {
          columns: Number(searchParams.get("columns")),
          rows: Number(searchParams.get("rows")),
        };
        const size = readAs(terminalSizeSchema, asked, "The size of the terminal");
        const session = builds.terminal(request.params.id);
        session.reserve(size);
        if (server.upgrade(request, { data: { session } })) return undefined;
        session.detach();
        throw new PublicError("A terminal is opened as a WebSocket.");
      },
    },
  };
}

/** The connections of terminals. */
export const terminalSockets: Bun.WebSocketHandler<TerminalOfSocket> = {
  maxPayloadLength: MAX_CLIENT_FRAME,
  perMessageDeflate: false,
  open(socket) {
    socket.data.session.attach({
      send: (frame) => void socket.send(frame),
      close: () => socket.close(1000),
    });
  },
  message(socket, frame) {
    try {
      socket.data.session.receive(frame);
    } catch {
      // The frame is not as agreed, and nothing that follows can be trusted.
      socket.data.session.detach();
      socket.close(1008);
    }
  },
  close: (socket) => socket.data.session.detach(),
};
