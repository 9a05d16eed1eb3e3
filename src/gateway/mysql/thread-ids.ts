// The number of a connection, by which other clients see and end it. The gateway greets before there is an engine, so
// the greeting has a made number; in commands the engine's number replaces it.
import type { Instance } from "../backend.ts";

const COM_QUERY = 0x03;
const COM_PROCESS_KILL = 0x0c;
const COM_STMT_PREPARE = 0x16;
/**
 * Engines count from one at each start and never come near these numbers. All of them have ten digits. They end below the
 * sign of 32 bits: MariaDB's clients for Java read them with a sign, and would name a negative number to end a query.
 */
const FIRST_MADE = 0x4000_0000;
const MADE_NUMBERS = 0x4000_0000;
const DIGITS = 10;
/** Longer statements do more than list or end connections. */
const MAX_STATEMENT_BYTES = 1_024;
/**
 * Blanks and comments before the first word: object mappers put the place of a statement there. The pattern matches any
 * text, so no part of the text is tried twice.
 */
const BEFORE = /^(?:\s+|\/\*[^]*?\*\/|(?:--\s|#)[^\n]*\n)*/;
const KILL = /^kill\b/i;
/** A statement that changes data keeps its numbers: a table can have the same. */
const READ = /^(?:\(\s*)*(?:select|show|with|explain|describe|desc|analyze)\b/i;
const CONNECTIONS = /processlist|innodb_trx/i;
/** A number of ten digits, in quotes or not, or another text in quotes, which is to be left alone. */
const NUMBER_OR_TEXT = /(['"]?)\b(\d{10})\b\1|'[^']*'|"[^"]*"|`[^`]*`/g;

let latest = 0;

/** Makes the gateway's own number for a new client. */
export function makeThreadId(): number {
  latest = (latest + 1) % MADE_NUMBERS;
  return FIRST_MADE + latest;
}

/** The thread ids of one instance's connections: the gateway's and the engine's number of each. */
export class ThreadIds {
  readonly #engines = new Map<number, number>();

  /** @param made the number in the client's greeting. @param own the engine's number. */
  set(made: number, own: number): void {
    this.#engines.set(made, own);
  }

  delete(made: number): void {
    this.#engines.delete(made);
  }

  /** Replaces made numbers by the engine's, in a command about connections. */
  replaceIn(payload: Uint8Array): void {
    if (payload[0] === COM_PROCESS_KILL) return this.#replaceBinary(payload);
    if (!isStatement(payload[0]) || payload.length > MAX_STATEMENT_BYTES) return;
    const bytes = Buffer.from(payload.buffer, payload.byteOffset + 1, payload.length - 1);
    const statement = bytes.toString("latin1");
    if (!isAboutConnections(statement)) return;
    for (const { 1: quote = "", 2: number, index } of statement.matchAll(NUMBER_OR_TEXT)) {
      const own = this.#engines.get(Number(number));
      if (own === undefined) continue;
      bytes.write(String(own).padStart(DIGITS, "0"), index + quote.length, "latin1");
    }
  }

  #replaceBinary(payload: Uint8Array): void {
    if (payload.length < 5) return;
    const view = new DataView(payload.buffer, payload.byteOffset);
    const own = this.#engines.get(view.getUint32(1, true));
    if (own !== undefined) view.setUint32(1, own, true);
  }
}

/** Whether a command may be about connections. */
export function mayNameThreads(command: number | undefined, length: number): boolean {
  return command === COM_PROCESS_KILL || (isStatement(command) && length <= MAX_STATEMENT_BYTES);
}

/** Whether a statement ends a connection or looks at connections. Where a text in quotes ends, escapes do not leave open. */
function isAboutConnections(statement: string): boolean {
  const words = statement.replace(BEFORE, "");
  if (KILL.test(words)) return true;
  return CONNECTIONS.test(words) && READ.test(words) && !words.includes("\\");
}

function isStatement(command: number | undefined): boolean {
  return command === COM_QUERY || command === COM_STMT_PREPARE;
}

const instances = new WeakMap<Instance, ThreadIds>();

/** The thread ids of an instance, for as long as it is behind the gateway. */
export function threadIdsOf(backend: Instance): ThreadIds {
  const known = instances.get(backend);
  if (known !== undefined) return known;
  const made = new ThreadIds();
  instances.set(backend, made);
  return made;
}
