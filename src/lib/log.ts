// Structured logs: one JSON object a line on stderr; the message is constant, what varies stands beside it.
import pino from "pino";

export type Log = pino.Logger;

/** Members of these names never reach a log. */
const SECRET_MEMBERS = ["password", "token", "secret", "authorization"];

/** What is kept at most of lines that cannot be written, until they can; later ones are lost. */
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
    // A full disk or a closed pipe must not end what the line is about.
    pino.destination({ fd: 2, sync: true, maxLength: MAX_UNWRITTEN_BYTES }).on("error", () => undefined),
  );
}
