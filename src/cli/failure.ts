// How a failed command ends: its message and the exit code of the program.
import { PilviError, PilviUnreachable } from "../sdk/index.ts";

const ANOTHER_TOKEN = "Set PILVI_TOKEN to another: the console or `pilvi token create` makes one.";

/** A reason why a command ends without success, printed as it is. */
export class CommandError extends Error {
  override name = "CommandError";
  readonly exitCode: number;

  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** The end of a program: 0 worked, 1 failed, 2 was used wrongly, 130 was interrupted. */
export interface Ending {
  text: string;
  exitCode: number;
}

/** The message and exit code for a failure that commands foresee; undefined for any other. */
export function endingOf(error: unknown): Ending | undefined {
  if (error instanceof CommandError) return { text: error.message, exitCode: error.exitCode };
  if (error instanceof PilviUnreachable) return { text: error.message, exitCode: 1 };
  if (error instanceof PilviError) return { text: textOf(error), exitCode: 1 };
  return undefined;
}

function textOf({ message, status, errors, requestId }: PilviError): string {
  const fields = Object.entries(errors ?? {});
  if (fields.length > 0) return fields.map(([field, texts]) => `${field}: ${texts.join(" ")}`).join("\n");
  if (status === 401) return `Pilvi does not accept this token: ${message} ${ANOTHER_TOKEN}`;
  if (status === 403) return `This token does not have the ability that the command needs: ${message}`;
  if (status >= 500 && requestId !== undefined) return `${message} The request id is ${requestId}.`;
  return message;
}
