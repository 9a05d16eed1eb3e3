// What is kept of who woke an instance: most of it the clients choose themselves, and people read it.
import type { WakeReason } from "./link.ts";

/** Far longer than what people call things; the host takes no message with a text that is much longer. */
const MAX_CHARACTERS = 128;

/** What a terminal obeys, or nobody can see. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** The same reason with texts that can be passed on: short, and nothing but what can be printed. */
export function presentable({ user, database, application, address }: WakeReason): WakeReason {
  return {
    user: brief(user),
    ...(database !== undefined && { database: brief(database) }),
    ...(application !== undefined && { application: brief(application) }),
    address,
  };
}

function brief(text: string): string {
  return text.slice(0, MAX_CHARACTERS).toWellFormed().replace(UNPRINTABLE, "?");
}
