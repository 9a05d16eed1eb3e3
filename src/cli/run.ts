// Runs another program in place of this one, so that the person at the terminal sees no difference.

/** A terminal sends these signals to the program itself as well, which decides about them. */
const LEFT_TO_THE_PROGRAM = ["SIGINT", "SIGQUIT"] as const;

/** These signals come to this process alone. */
const PASSED_ON = ["SIGTERM", "SIGHUP"] as const;

/**
 * Runs a program on the same input and outputs.
 * @param env the differences to the environment of this process; an undefined variable is removed.
 * @returns the exit code, or 128 plus the number of the signal that ended the program.
 */
export async function runInPlace(argv: string[], env: Record<string, string | undefined>): Promise<number> {
  const listeners: [NodeJS.Signals, () => void][] = LEFT_TO_THE_PROGRAM.map((signal) => [signal, () => {}]);
  for (const [signal, listener] of listeners) process.on(signal, listener);
  const child = Bun.spawn(argv, {
    env: Object.fromEntries(
      Object.entries({ ...process.env, ...env }).filter(([, value]) => value !== undefined),
    ),
    stdio: ["inherit", "inherit", "inherit"],
  });
  for (const signal of PASSED_ON) {
    const listener = () => child.kill(signal);
    process.on(signal, listener);
    listeners.push([signal, listener]);
  }
  try {
    return await child.exited;
  } finally {
    for (const [signal, listener] of listeners) process.off(signal, listener);
  }
}
