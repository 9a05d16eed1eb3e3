// Runs a statement at a Postgres. The extended protocol takes a single statement in a text and a bound on its rows, for
// every statement that gives rows; no client library bounds the bytes of a row as well, which may have a gigabyte.
import { OpenTransaction, StatementEnded } from "./faults.ts";
import { READ_BYTES } from "./limits.ts";
import { logIntoPostgres, openPostgresWire } from "./postgres-login.ts";
import {
  cancelRequest,
  int16,
  int32,
  message,
  noticeOf,
  readBody,
  readHeader,
  refusalOf,
  zeroEnded,
  type Header,
} from "./postgres-messages.ts";
import { Result, textOf } from "./result.ts";
import type { EngineSession, Statement, StatementLogin } from "./session.ts";
import type { Wire } from "./wire.ts";

const NULL_CELL = -1;
/** The status of a session outside of a transaction. */
const IDLE = "I";
const COPY_MESSAGES = new Set(["G", "H", "W"]);
const NO_COPY = "COPY from and to a client does not work here. Use `pilvi databases psql`.";
/** The bytes of a column's description after its name: table, attribute, type, size, modifier, format. */
const TRAITS_BYTES = 18;

/** A column's type as the protocol has it. */
interface TypeNumber {
  oid: number;
  modifier: number;
}

export class PostgresSession implements EngineSession {
  readonly #login: StatementLogin;
  #wire: Wire | undefined;
  #canceling: Wire | undefined;
  #cancelKey: Buffer | undefined;
  readonly #engineTimeoutMs: number;

  constructor(login: StatementLogin, engineTimeoutMs: number) {
    this.#login = login;
    this.#engineTimeoutMs = engineTimeoutMs;
  }

  async open(): Promise<void> {
    const wire = await openPostgresWire(this.#login, (opened) => (this.#wire = opened));
    this.#cancelKey = await logIntoPostgres(wire, this.#login, {
      client_encoding: "UTF8",
      application_name: "pilvi query",
      statement_timeout: String(this.#engineTimeoutMs),
    });
  }

  async run({ text, isReadOnly, isScript, maxRows }: Statement, result: Result): Promise<void> {
    const wire = this.#opened;
    wire.budget = READ_BYTES;
    // A text without parameters is one transaction, unless it begins its own.
    if (isScript === true) {
      if ((await this.#simple(text, result)) !== IDLE) throw new OpenTransaction();
      return;
    }
    // After its first query no transaction can be made to write.
    if (isReadOnly) await this.#simple("begin read only; select 1", new Result(1));
    wire.write(parse(text));
    await this.#describe(result);
    // The row more says whether there are more.
    wire.write(execute(maxRows + 1));
    await this.#execute(result);
    wire.write(message("S"));
    await this.#untilReady(result);
  }

  async cancel(): Promise<void> {
    if (this.#cancelKey === undefined) return;
    const wire = await openPostgresWire(this.#login, (opened) => (this.#canceling = opened));
    wire.write(cancelRequest(this.#cancelKey));
    // The engine closes the connection when it has passed the cancel on.
    await wire.read(1).catch(() => undefined);
  }

  close(): void {
    this.#wire?.destroy();
    this.#canceling?.destroy();
  }

  get #opened(): Wire {
    if (this.#wire === undefined) throw new Error("the session was not opened");
    return this.#wire;
  }

  /** Reads the columns. The engine alone knows the names of their types, many of which customers make. */
  async #describe(result: Result): Promise<void> {
    const wire = this.#opened;
    let types: TypeNumber[] = [];
    for (;;) {
      const header = await this.#next(result);
      const body = await readBody(wire, header);
      if (header.type === "T") types = describeColumns(body, result);
      if (header.type === "Z") break;
    }
    if (types.length === 0) return;
    const names = types.map(({ oid, modifier }) => `pg_catalog.format_type(${oid}, ${modifier})`);
    const named = new Result(1);
    await this.#simple(`select ${names.join(", ")}`, named);
    for (const [index, column] of result.columns.entries())
      column.type = named.rows[0]?.[index] ?? column.type;
  }

  /** Everything up to the end of the statement, or to the last row that was asked for. */
  async #execute(result: Result): Promise<void> {
    const wire = this.#opened;
    for (;;) {
      const header = await this.#next(result);
      switch (header.type) {
        case "D":
          await this.#row(header, result);
          break;
        case "C":
          return takeTag(textOf((await readBody(wire, header)).subarray(0, -1)), result);
        case "G":
        case "H":
        case "W":
          throw new StatementEnded(NO_COPY);
        default:
          await wire.skip(header.length);
          // The rows asked for have come, or the text has no statement.
          if (header.type === "s" || header.type === "I") return;
      }
    }
  }

  async #row(header: Header, result: Result): Promise<void> {
    const wire = this.#opened;
    if (result.isFull) {
      result.isTruncated = true;
      return await wire.skip(header.length);
    }
    result.beginRow();
    const count = (await wire.read(2)).readInt16BE();
    for (let column = 0; column < count; column++) {
      const length = (await wire.read(4)).readInt32BE();
      if (length === NULL_CELL) result.addNull();
      else await result.readCell(wire, length, textOf);
    }
  }

  /** The next message that is about the statement; errors are thrown. */
  async #next(result: Result): Promise<Header> {
    for (;;) {
      const header = await readHeader(this.#opened);
      if (header.type === "E") throw refusalOf(await readBody(this.#opened, header));
      if (header.type === "N") result.addNotice(noticeOf(await readBody(this.#opened, header)));
      // Settings and notifications may come at any time.
      else if (header.type === "S" || header.type === "A") await this.#opened.skip(header.length);
      else return header;
    }
  }

  /** @returns the status of the session. */
  async #untilReady(result: Result): Promise<string> {
    for (;;) {
      const header = await this.#next(result);
      if (COPY_MESSAGES.has(header.type)) throw new StatementEnded(NO_COPY);
      if (header.type === "Z") return textOf(await readBody(this.#opened, header));
      if (header.type === "D") await this.#row(header, result);
      else await this.#opened.skip(header.length);
    }
  }

  /** Runs a text that may have several statements. @returns the status of the session. */
  async #simple(text: string, result: Result): Promise<string> {
    this.#opened.write(message("Q", zeroEnded(text)));
    return await this.#untilReady(result);
  }
}

/** The statement's name; texts of Pilvi's own, which come between, would replace a statement without a name. */
const NAME = zeroEnded("pilvi");

function parse(text: string): Buffer {
  return Buffer.concat([
    message("P", NAME, zeroEnded(text), int16(0)),
    message("D", Buffer.from("S"), NAME),
    message("S"),
  ]);
}

/** No Sync follows yet, which would commit: a result that is too large must be able to roll back. */
function execute(maxRows: number): Buffer {
  const unnamed = zeroEnded("");
  return Buffer.concat([
    // No parameters; all columns as text.
    message("B", unnamed, NAME, int16(0), int16(0), int16(0)),
    message("E", unnamed, int32(maxRows)),
    message("H"),
  ]);
}

function describeColumns(body: Buffer, result: Result): TypeNumber[] {
  const types: TypeNumber[] = [];
  for (let at = 2, left = body.readInt16BE(); left > 0; left--) {
    const end = body.indexOf(0, at);
    const name = textOf(body.subarray(at, end));
    const type = { oid: body.readUInt32BE(end + 7), modifier: body.readInt32BE(end + 13) };
    result.columns.push({ name, type: `type ${type.oid}` });
    types.push(type);
    at = end + 1 + TRAITS_BYTES;
  }
  return types;
}

/** Such as `SELECT 5`, `INSERT 0 1` or `CREATE TABLE`; the last number is that of the rows. */
function takeTag(tag: string, result: Result): void {
  const count = tag.match(/ \d+/g)?.at(-1);
  result.command = tag.replace(/( \d+)+$/, "");
  result.rowCount = count === undefined ? null : Number(count);
}
