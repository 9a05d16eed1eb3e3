// The script with a command of the customer's, so that no argument list of the machine shows the command.
import { shellWord } from "../../lib/shell-word.ts";

/** A command without anything that only a shell understands. */
const PLAIN = /^[A-Za-z0-9_@%+,./:-]+(?: +[A-Za-z0-9_@%+,./:-]+)*$/;

/** The lines that give the command its variables; `PORT` is the host's. */
export function exportsOf(variables: Record<string, string>): string {
  return Object.entries(variables)
    .filter(([name]) => name !== "PORT")
    .map(([name, value]) => `export ${name}=${shellWord(value)}\n`)
    .join("");
}

/**
 * The text of the script. A plain command takes the place of the shell and gets its signals. For any other, the shell
 * outlives SIGTERM until the command, which gets the signal as well, has ended: the end of the shell ends all.
 */
export function commandFile(command: string): string {
  const text = command.trim();
  return PLAIN.test(text) ? `exec ${text}\n` : `trap : TERM INT\n${text}\n`;
}
