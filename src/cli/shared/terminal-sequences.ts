// Takes out of output what programs write for a terminal only.

/** Colours, and other sequences for a terminal. */
// eslint-disable-next-line no-control-regex
const SEQUENCES = /\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)|[@-Z\\-_])/g;

/** The text without colours and other sequences, which a text that is safe for a terminal would show as codes. */
export function withoutSequences(text: string): string {
  return text.replaceAll(SEQUENCES, "");
}
