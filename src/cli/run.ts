// Runs another program in place of this one, as far as the person at the terminal can tell.

/** A terminal sends these to the program itself as well, which knows what they mean to it. */
const LEFT_TO_THE_PROGRAM = ["SIGINT", "SIGQUIT"] as const;

/** These come to this process alone. */
const PASSED_ON = ["SIGTERM", "SIGHUP"] as const;

/**
 * Runs a program on the same input and outputs.
 * @param env what differs from the environment of this process; a variable that is undefined is taken out.
 * @returns its exit code, or 128 and the number of the signal that ended it.
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
