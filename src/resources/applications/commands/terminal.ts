// The operation that opens the terminal of a command.
import { z } from "zod";
import { isStillValid } from "../../../api/auth/auth.ts";
import { ApiError, notFound } from "../../../api/jsonapi/errors.ts";
import { operation, type Operation } from "../../../api/operation/operation.ts";
import type { KindContext } from "../../kind.ts";
import { KIND } from "../create.ts";
import { commandParams } from "../params.ts";
import { abandonCommand, requireTerminalRights } from "./create.ts";
import { findCommand, type CommandRow } from "./store.ts";
import { TerminalRelay } from "./terminal-relay.ts";

const length = (what: string, example: string) =>
  z
    .string()
    .regex(/^(?:[1-9]\d{0,2}|1000)$/, "must be a whole number from 1 to 1000")
    .transform(Number)
    .meta({ description: `The ${what} of the window.`, example });

const terminalQuery = z.object({ columns: length("columns", "80"), rows: length("rows", "24") });

/** The operation that opens the terminal of a command. */
export function terminalOperation(context: KindContext): Operation {
  const { db, hosts, log } = context;
  const open = new Set<string>();
  return operation({
    method: "GET",
    path: "/commands/:id/terminal",
    operationId: "openCommandTerminal",
    tag: "Commands",
    summary: "Open the terminal of a command",
    description: `A WebSocket, for a command that was begun with \`terminal\`, once. Binary frames are the bytes that are typed and shown. A text frame of the client is JSON: \`{"columns": 120, "rows": 40}\` when its window has changed, and \`{"acknowledged": N}\` when it has shown N further bytes; the server acknowledges typed bytes alike. Of either direction, 256 KiB may be under way, and both sides acknowledge after 64 KiB at the latest; a frame of the client has 64 KiB at most. The server sends \`{"running": true}\` when the command begins. The last frame is \`{"exit_code": 0, "reason": null}\`. The command ends with the connection. The token needs \`${KIND}:write\` as well.`,
    ability: `${KIND}:credentials`,
    params: commandParams,
    query: terminalQuery,
    canConflict: true,
    success: { status: 101, description: "The connection is a WebSocket." },
    async handle({ principal, params: { id }, query, closing }) {
      requireTerminalRights(principal);
      const find = () => findCommand(db, principal.organizationId, id);
      const command = await find();
      if (command === undefined) throw notFound("command");
      refuseOthers(command, open);
      open.add(id);
      const { driver } = hosts.of(command.hostId);
      const isAllowed = () => isStillValid(db, principal);
      const onEnd = (isAbandoned: boolean) => {
        open.delete(id);
        if (!isAbandoned) return;
        // The host would only find out after a while that nobody comes.
        abandonCommand(context, command).catch((error: unknown) => {
          log.warn({ error, command: id }, "a command without its client could not be cancelled");
        });
      };
      return { socket: new TerminalRelay({ driver, log, id, size: query, find, isAllowed, closing, onEnd }) };
    },
  });
}

/** @throws ApiError 409 */
function refuseOthers({ id, hasTerminal, finishedAt }: CommandRow, open: ReadonlySet<string>): void {
  if (!hasTerminal) throw new ApiError(409, "The command has no terminal. Begin a command with `terminal`.");
  if (finishedAt !== null) throw new ApiError(409, "The command has ended.");
  if (open.has(id)) throw new ApiError(409, "The terminal of the command is open already.");
}
