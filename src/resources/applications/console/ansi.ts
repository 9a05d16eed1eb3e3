// The output of commands as a terminal would show it: colours, and lines that were written over.
import { SEQUENCES } from "../../../console/parts/terminal-sequences.ts";

/** The colours of the console that stand for those of a terminal. */
export type AnsiLook = "plain" | "soft" | "good" | "bad" | "work" | "accent";

/** Text of one look. */
interface AnsiSpan {
  text: string;
  look: AnsiLook;
  isBold: boolean;
}

/** By the last digit of a colour: 31 and 91 are red. */
const LOOKS: readonly AnsiLook[] = ["soft", "bad", "good", "work", "accent", "accent", "accent", "plain"];

/** The end of a text. @returns as many lines as there may be, and how many were left out before them. */
export function lastLines(text: string, most: number): { text: string; left: number } {
  const lines = text.replace(/\n$/, "").split("\n");
  const left = Math.max(0, lines.length - most);
  return { text: lines.slice(left).join("\n"), left };
}

/** The parts of a text by their looks; sequences that are no colours are left out. */
export function spansOf(output: string): AnsiSpan[] {
  const text = asWritten(output);
  const spans: AnsiSpan[] = [];
  let look: AnsiLook = "plain";
  let isBold = false;
  let from = 0;
  const add = (until: number) => {
    if (until > from) spans.push({ text: text.slice(from, until), look, isBold });
  };
  for (const match of text.matchAll(SEQUENCES)) {
    const [sequence, codes = "", kind] = match;
    add(match.index);
    from = match.index + sequence.length;
    if (kind === "m") ({ look, isBold } = after(codes, { look, isBold }));
  }
  add(text.length);
  return spans;
}

/** Of a line that was written over, such as a progress bar, what stood there last. */
function asWritten(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(/[^\n]*\r(?=[^\n])/g, "");
}

/** The look after the codes of a sequence, such as `1;31`. */
function after(codes: string, before: Omit<AnsiSpan, "text">): Omit<AnsiSpan, "text"> {
  let { look, isBold } = before;
  const numbers = codes.split(";").map(Number);
  for (let at = 0; at < numbers.length; at += 1) {
    const code = numbers[at] ?? 0;
    // A colour of many takes its own numbers along, which are no codes.
    if (code === 38 || code === 48) at += numbers[at + 1] === 5 ? 2 : 4;
    else if (code === 0) [look, isBold] = ["plain", false];
    else if (code === 1) isBold = true;
    else if (code === 2) look = "soft";
    else if (code === 22) isBold = false;
    else if (code === 39) look = "plain";
    else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) look = LOOKS[code % 10] ?? "plain";
  }
  return { look, isBold };
}
