// What programs write for a terminal only.

const ESC = "\u001b";
/** Control sequences, such as colours and movements, and commands of the operating system, such as titles. */
export const SEQUENCES = new RegExp(
  `${ESC}(?:\\[([0-?]*)[ -/]*([@-~])|\\][^\u0007${ESC}]*(?:\u0007|${ESC}\\\\)|[@-Z\\\\^_])`,
  "g",
);
