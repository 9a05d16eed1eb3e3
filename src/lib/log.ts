// Structured logs: one JSON object a line on stderr; the message is constant, and variable values stand beside it.
import pino from "pino";

export type Log = pino.Logger;

/** Members of these names never reach a log. */
const SECRET_MEMBERS = ["password", "token", "secret", "authorization"];

/** How much of the lines that cannot be written is kept until they can; later lines are lost. */
const MAX_UNWRITTEN_BYTES = 64 * 1024;

/** @param name the process that writes: `control`, `host` and so on. */
export function createLog(name: string, level: string): Log {
  return pino(
    {
      name,
      level,
      base: { process: name },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: SECRET_MEMBERS.flatMap((member) => [member, `*.${member}`]), remove: true },
      serializers: { error: pino.stdSerializers.err },
    },
    // A full disk or a closed pipe must not end the work that the line is about.
    pino.destination({ fd: 2, sync: true, maxLength: MAX_UNWRITTEN_BYTES }).on("error", () => undefined),
  );
}
