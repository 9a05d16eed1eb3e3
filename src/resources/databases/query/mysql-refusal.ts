// Errors of MariaDB, and the place in the statement that an error of syntax is about.
import type { EngineFault } from "../../../api/jsonapi/errors.ts";
import { StatementRefused } from "./faults.ts";

/** Reads the payload of an error after its first byte: a number, `#` and five characters of an SQLSTATE, a text. */
export function refusalOf(body: Buffer, statement = ""): StatementRefused {
  const code = String(body.readUInt16LE(0));
  const text = body.toString("utf8", 2).replace(/^#.{5}/, "");
  const fault: EngineFault = { code, position: positionIn(statement, text), detail: null, hint: null };
  return new StatementRefused(text, fault);
}

/**
 * MariaDB quotes the statement from the faulty word on, 80 bytes at most, and names no position.
 * @returns the first character of the quote, counted from 1; null where the quote occurs more than once.
 */
function positionIn(statement: string, text: string): number | null {
  const quote = /near '(.*)' at line \d+$/s.exec(text)?.[1];
  if (quote === undefined) return null;
  if (quote === "") return charactersOf(statement) + 1;
  const at = statement.indexOf(quote);
  if (at === -1 || statement.includes(quote, at + 1)) return null;
  return charactersOf(statement.slice(0, at)) + 1;
}

/** Unlike `length`, characters beyond 16 bits count once. */
function charactersOf(text: string): number {
  return Array.from(text).length;
}
