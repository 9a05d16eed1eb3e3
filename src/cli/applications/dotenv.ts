// Reads and writes variables in the form of `.env` files.
import { CommandError } from "../failure.ts";

/** A variable of an environment. */
export interface Variable {
  key: string;
  value: string;
}

const KEY = /^[A-Za-z_][A-Za-z0-9_]*$/;
const LINE = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=/;

/** Characters after a backslash in double quotes. */
const ESCAPES: Record<string, string> = { n: "\n", r: "\r", t: "\t" };

/** Reads `KEY=VALUE`. @throws CommandError when it is not that. */
export function variableOf(text: string): Variable {
  const at = text.indexOf("=");
  if (at < 1) throw new CommandError(`${text.slice(0, 60)} is not KEY=VALUE.`, 2);
  const key = text.slice(0, at);
  if (!KEY.test(key))
    throw new CommandError(
      `${key.slice(0, 60)} is no name of a variable: it may have letters, digits and underscores, and does not begin with a digit.`,
      2,
    );
  return { key, value: text.slice(at + 1) };
}

/**
 * Reads the text of a `.env` file; of a variable that it has twice, the last one counts.
 * @throws CommandError with the line that is not understood.
 */
export function parseDotenv(text: string): Variable[] {
  const found = new Map<string, string>();
  let rest = text.replaceAll("\r\n", "\n").replace(/^\uFEFF/, "");
  for (let line = 1; rest !== "";) {
    const [taken, variable] = readEntry(rest, line);
    if (variable !== undefined) found.set(variable.key, variable.value);
    line += rest.slice(0, taken).split("\n").length - 1;
    rest = rest.slice(taken);
  }
  return [...found].map(([key, value]) => ({ key, value }));
}

/** The text of a `.env` file. */
export function dotenvText(variables: readonly Variable[]): string {
  return variables.map(({ key, value }) => `${key}=${quoted(value)}\n`).join("");
}

/** Reads a line, or the lines of a quoted value. @returns how many characters were read, and what they say. */
function readEntry(text: string, line: number): [taken: number, variable?: Variable] {
  const end = text.indexOf("\n") === -1 ? text.length : text.indexOf("\n") + 1;
  const first = text.slice(0, end);
  if (/^\s*(#|$)/.test(first)) return [end];
  const [head, key] = LINE.exec(first) ?? [];
  if (head === undefined || key === undefined) throw new CommandError(`Line ${line} is not KEY=VALUE.`);
  const unquoted = first.slice(head.length);
  const blanks = /^[ \t]*/.exec(unquoted)?.[0].length ?? 0;
  const value = text.slice(head.length + blanks);
  const quote = value[0];
  if (quote !== '"' && quote !== "'") return [end, { key, value: unquoted.replace(/\s+#.*$/s, "").trim() }];
  const pattern = quote === '"' ? /^"((?:[^"\\]|\\.)*)"[^\n]*(\n|$)/s : /^'([^']*)'[^\n]*(\n|$)/s;
  const [whole, inner] = pattern.exec(value) ?? [];
  if (whole === undefined || inner === undefined)
    throw new CommandError(`The quote of ${key} in line ${line} has no end.`);
  return [head.length + blanks + whole.length, { key, value: quote === '"' ? unescaped(inner) : inner }];
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(.)/gs, (_, character: string) => ESCAPES[character] ?? character);
}

/**
 * A value that needs no quotes stays as it is. In single quotes every reader takes each character as it is; what a
 * backslash does in double quotes differs from reader to reader.
 */
function quoted(value: string): string {
  if (/^[\w./:@%+,=-]*$/.test(value)) return value;
  if (!/['\r\n]/.test(value)) return `'${value}'`;
  const text = value.replaceAll(/[\\"$]/g, String.raw`\$&`);
  return `"${text.replaceAll("\n", String.raw`\n`).replaceAll("\r", String.raw`\r`)}"`;
}
