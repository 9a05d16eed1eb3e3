// The last lines of what a program has written, as the reason of its failure has them.

/** Colours, and other sequences for a terminal. */
// eslint-disable-next-line no-control-regex
const SEQUENCES = /\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)|[@-Z\\-_])/g;

/** A longer line would take the room of others. */
const MAX_LINE_CHARACTERS = 500;

/** A frame of a trace, as JavaScript and Java write it. */
const FRAME = /^\s+at /;

/** What may follow the frames: the members of the error as Node.js prints them, up to the closing brace. */
const MEMBER = /^(?:\s|\}$)/;

/** A member that is another error says what happened. */
const OTHER_ERROR = /\b\w*(?:Error|Exception|error): /;

/**
 * The last lines of text, the oldest first, as a terminal would show them in the end. Of a trace the first frame stays: a
 * trace follows its message, and would fill the lines alone.
 */
export function lastLines(lines: readonly string[], most: number): string[] {
  const shown = lines.map(shownLine).filter((line) => line !== "");
  let isInTrace = false;
  const kept = shown.filter((line) => {
    const wasInTrace = isInTrace;
    isInTrace = FRAME.test(line) || (wasInTrace && MEMBER.test(line) && !OTHER_ERROR.test(line));
    return !wasInTrace || !isInTrace;
  });
  return kept.slice(-most);
}

/** Of a line that was written over, such as a progress bar, what stood there last. */
function shownLine(line: string): string {
  const written = line.replaceAll(SEQUENCES, "").trimEnd();
  return written.slice(written.lastIndexOf("\r") + 1).slice(0, MAX_LINE_CHARACTERS);
}
