// Programs of the machine that tests run as a customer would.

/**
 * Runs a program to its end and returns what it printed.
 * @throws with what it complained of when it fails.
 */
export async function runProgram(command: string[], env: Record<string, string> = {}): Promise<string> {
  const child = Bun.spawn(command, {
    env: { PATH: process.env.PATH ?? "", LC_ALL: "C.UTF-8", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [printed, complained] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")}: ${complained}`);
  return printed;
}
