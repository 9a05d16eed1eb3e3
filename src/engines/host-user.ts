// The user that the host runs as, who is the administrator of its databases: the kernel says who asks through the socket.
import { PublicError } from "../lib/errors.ts";
import { userName } from "../lib/libc.ts";

/**
 * The user's name, as the kernel's answer is turned into one.
 * @param engine who needs it, for the message.
 * @throws PublicError when the user has no name on this machine.
 */
export function hostUser(engine: "Postgres" | "MariaDB"): string {
  const name = userName(process.getuid?.() ?? 0);
  if (name !== null) return name;
  throw new PublicError(`The user that runs Pilvi has no name on this machine, which ${engine} needs.`);
}
