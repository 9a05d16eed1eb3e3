// How an event looks: a sentence for people, or an object in one line for programs.
import type { EventResource } from "../../sdk/index.ts";

const COLUMNS = 80;
/** Date and time up to seconds, and two spaces. */
const INDENT = 21;

/** Time and sentence, wrapped. */
export function eventText({ attributes }: EventResource): string {
  const time = attributes.occurred_at.slice(0, 19).replace("T", " ");
  const message = attributes.message.replaceAll(/\s+/g, " ");
  return `${time}  ${wrapped(message, COLUMNS - INDENT).join(`\n${" ".repeat(INDENT)}`)}\n`;
}

/** The event as the API shows it. */
export function eventLine(event: EventResource): string {
  return `${JSON.stringify(event)}\n`;
}

/** Lines of whole words; a word that is longer than a line gets a line of its own. */
function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}
