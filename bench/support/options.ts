// What may be said on the command line of a measurement: one number, such as how many rounds.

/** The number after the name of the program, or else the default. @throws when it is none above zero. */
export function countOption(fallback: number): number {
  const [, , word] = process.argv;
  if (word === undefined) return fallback;
  const count = Number(word);
  if (!Number.isSafeInteger(count) || count < 1)
    throw new Error(`${word} is not a number of rounds or instances`);
  return count;
}
