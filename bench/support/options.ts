// The command line of a measurement: a number, such as its rounds.

/** The number after the name of the program, or else the default. @throws when it is not a number above zero. */
export function countOption(fallback: number): number {
  const [, , word] = process.argv;
  if (word === undefined) return fallback;
  const count = Number(word);
  if (!Number.isSafeInteger(count) || count < 1)
    throw new Error(`${word} is not a number of rounds or instances`);
  return count;
}
