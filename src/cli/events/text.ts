// How an event looks: a sentence for people, or an object in one line for programs.
import type { EventResource } from "../../sdk/index.ts";
import { filledLines } from "../table.ts";

const COLUMNS = 80;
/** Date and time up to seconds, and two spaces. */
const INDENT = 21;

/** Time and sentence, in lines of whole words. */
export function eventText({ attributes }: EventResource): string {
  const time = attributes.occurred_at.slice(0, 19).replace("T", " ");
  const message = attributes.message.replaceAll(/\s+/g, " ");
  return `${time}  ${filledLines(message.split(" "), COLUMNS - INDENT, " ").join(`\n${" ".repeat(INDENT)}`)}\n`;
}

/** The event as the API shows it. */
export function eventLine(event: EventResource): string {
  return `${JSON.stringify(event)}\n`;
}
