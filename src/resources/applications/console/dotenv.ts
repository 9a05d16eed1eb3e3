// The text of a .env file as variables.
import type { EnvironmentVariable } from "../../../sdk/index.ts";

/** The variables of a text, each key once with its last value, and the numbers of the lines that are none. */
interface DotenvFile {
  variables: EnvironmentVariable[];
  faultyLines: number[];
}

/** A line; a value in quotes may go on over the next lines. */
const LINE =
  /^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)[ \t]*=[ \t]*(?:"((?:\\[^]|[^"\\])*)"|'([^']*)'|`([^`]*)`|([^\n]*))[ \t]*(?:#[^\n]*)?$/;

const ESCAPES: Record<string, string> = { n: "\n", r: "\r", t: "\t" };

/** Reads the text as the usual programs do: comments, `export`, quotes, and escapes in double quotes. */
export function parseDotenv(text: string): DotenvFile {
  const pattern = new RegExp(LINE.source, "my");
  const source = text.replaceAll(/\r\n?/g, "\n");
  const values = new Map<string, string>();
  const faultyLines: number[] = [];
  let at = 0;
  for (let line = 1; at < source.length;) {
    pattern.lastIndex = at;
    const end = source.indexOf("\n", at) === -1 ? source.length : source.indexOf("\n", at);
    const first = source.slice(at, end).trim();
    const match = first === "" || first.startsWith("#") ? null : pattern.exec(source);
    if (match !== null) values.set(match[1] ?? "", valueOf(match));
    else if (first !== "" && !first.startsWith("#")) faultyLines.push(line);
    const read = match === null ? source.slice(at, end) : match[0];
    line += read.split("\n").length;
    at += read.length + 1;
  }
  const variables = Array.from(values, ([key, value]) => ({ key, value }));
  return { variables, faultyLines };
}

function valueOf([, , double, single, backtick, bare = ""]: RegExpExecArray): string {
  if (double !== undefined)
    return double.replace(/\\([^])/g, (_all, escaped: string) => ESCAPES[escaped] ?? escaped);
  return single ?? backtick ?? bare.replace(/(?:^|[ \t])#.*$/, "").trim();
}
