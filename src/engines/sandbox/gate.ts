// The gate before a customer's command. The shell that runs the command first waits for a line, inside its sandbox, so
// that the sandbox is made while the host moves its processes into their group. A program that could begin before would
// leave the group by going on in a child whose parent has ended.

/** The line that lets a command run. A host that ends before it has written the line lets nothing run. */
export const GO = "go";

/** Shell: waits for that line, and ends without it. */
export const AWAIT_GO = `read -r go && [ "$go" = ${GO} ] || exit 1`;

/** Shell: the command has neither the gate's variable nor its input. */
const ENTER = `${AWAIT_GO}; unset go; exec </dev/null;`;

/** The words that run a script of the shell behind the gate, in the shell that has waited. */
export function gatedScript(path: string): string[] {
  return ["/bin/sh", "-c", `${ENTER} . "$0"`, path];
}

/** The words that run a program behind the gate, which takes the place of the shell. */
export function gatedProgram(words: readonly string[]): string[] {
  return ["/bin/sh", "-c", `${ENTER} exec "$0" "$@"`, ...words];
}
