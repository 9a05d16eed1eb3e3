// The name of the user that runs the host. It administers the databases, because the kernel proves it at the socket.
import { PublicError } from "../lib/errors.ts";
import { userName } from "../lib/libc.ts";

/**
 * The user's name, as the engine derives it from the kernel's answer.
 * @param engine the engine that needs the name, for the message.
 * @throws PublicError when the user has no name on this machine.
 */
export function hostUser(engine: "Postgres" | "MariaDB"): string {
  const name = userName(process.getuid?.() ?? 0);
  if (name !== null) return name;
  throw new PublicError(`The user that runs Pilvi has no name on this machine, which ${engine} needs.`);
}
