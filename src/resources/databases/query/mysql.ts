// Runs a statement at a MariaDB, by the text protocol, and reads its rows as they come: no client library bounds the
// bytes of a row, which may have a gigabyte.
import { ConnectionLost, OpenTransaction, StatementEnded } from "./faults.ts";
import { MAX_NOTICES, MESSAGE_BYTES, READ_BYTES } from "./limits.ts";
import { ERROR, logIntoMysql, OK, type MysqlConnection } from "./mysql-login.ts";
import type { Payload } from "./mysql-payloads.ts";
import { isReading } from "./mysql-read-only.ts";
import { refusalOf } from "./mysql-refusal.ts";
import { toTextOf, typeName, type ColumnTraits } from "./mysql-types.ts";
import { Result } from "./result.ts";
import type { EngineSession, Statement, StatementLogin } from "./session.ts";
import type { Wire } from "./wire.ts";

const COM_QUERY = 0x03;
const COM_SET_OPTION = 0x1b;
const MULTI_STATEMENTS_ON = "\0\0";
const NULL_CELL = 0xfb;
const LOCAL_FILE = 0xfb;
const END = 0xfe;
/** A row that begins with the byte of an end is longer than any end. */
const LONGEST_END_BYTES = 8;
const IN_TRANSACTION = 0x0001;
const MORE_RESULTS = 0x0008;
/** Names are shorter; the bound is for a hostile engine. */
const NAME_BYTES = 4_096;

/** The end of a result. */
interface Ending {
  warnings: number;
  hasMore: boolean;
  isInTransaction: boolean;
}

export class MysqlSession implements EngineSession {
  readonly #login: StatementLogin;
  readonly #engineTimeoutMs: number;
  #wire: Wire | undefined;
  #canceling: Wire | undefined;
  #connection: MysqlConnection | undefined;

  constructor(login: StatementLogin, engineTimeoutMs: number) {
    this.#login = login;
    this.#engineTimeoutMs = engineTimeoutMs;
  }

  async open(): Promise<void> {
    this.#connection = await logIntoMysql(this.#login, (opened) => (this.#wire = opened));
  }

  async run({ text, isReadOnly, isScript, maxRows }: Statement, result: Result): Promise<void> {
    if (isReadOnly && !isReading(text)) {
      throw new StatementEnded(
        "The statement does not begin like a statement that reads. Allow writing to run it.",
      );
    }
    this.#opened.wire.budget = READ_BYTES;
    const seconds = this.#engineTimeoutMs / 1000;
    await this.#simple(`set session max_statement_time = ${seconds}`);
    if (isScript === true) await this.#allowSeveralStatements();
    // The row more says whether there are more.
    else await this.#simple(`set session sql_select_limit = ${maxRows + 1}`);
    if (isReadOnly) {
      await this.#simple("set session transaction read only");
      await this.#simple("start transaction read only");
    }
    const first = await this.#query(text, result);
    if (result.isTruncated) result.rowCount = null;
    const last = await this.#skipFurtherResults(first, result);
    if (isScript === true && last.isInTransaction) throw new OpenTransaction();
    if (!first.hasMore && first.warnings > 0) await this.#takeWarnings(result);
  }

  async cancel(): Promise<void> {
    if (this.#connection === undefined) return;
    const { threadId } = this.#connection;
    const { payloads } = await logIntoMysql(this.#login, (opened) => (this.#canceling = opened));
    payloads.command(COM_QUERY, `kill query ${threadId}`);
    await payloads.receive().catch(() => undefined);
  }

  close(): void {
    this.#wire?.destroy();
    this.#canceling?.destroy();
  }

  get #opened(): MysqlConnection {
    if (this.#connection === undefined) throw new Error("the session was not opened");
    return this.#connection;
  }

  async #allowSeveralStatements(): Promise<void> {
    this.#opened.payloads.command(COM_SET_OPTION, MULTI_STATEMENTS_ON);
    const payload = await this.#opened.payloads.receive();
    if ((await payload.uint(1)) === ERROR) throw refusalOf(await payload.rest(MESSAGE_BYTES));
    await payload.skipRest();
  }

  /** Runs a statement of Pilvi's own. */
  async #simple(text: string): Promise<void> {
    await this.#query(text, new Result(0));
  }

  async #query(text: string, result: Result): Promise<Ending> {
    this.#opened.payloads.command(COM_QUERY, text);
    return await this.#readResult(text, result);
  }

  async #readResult(text: string, result: Result): Promise<Ending> {
    const payload = await this.#opened.payloads.receive();
    const first = await payload.uint(1);
    if (first === ERROR) throw refusalOf(await payload.rest(MESSAGE_BYTES), text);
    if (first === LOCAL_FILE) throw new StatementEnded("LOAD DATA LOCAL does not work here.");
    if (first === OK) return await readOk(payload, result);
    const columns = await this.#readColumns(await payload.number(first), result);
    result.rowCount = 0;
    for (;;) {
      const ending = await this.#readRow(text, columns, result);
      if (ending !== null) return ending;
    }
  }

  async #readColumns(count: number, result: Result): Promise<ColumnTraits[]> {
    const columns: ColumnTraits[] = [];
    for (let left = count; left > 0; left--) {
      const payload = await this.#opened.payloads.receive();
      // Catalog, database, table and its original name.
      for (let skipped = 0; skipped < 4; skipped++) await payload.text(NAME_BYTES);
      const name = await payload.text(NAME_BYTES);
      await payload.text(NAME_BYTES);
      await payload.skip(1);
      const collation = await payload.uint(2);
      await payload.skip(4);
      const type = await payload.uint(1);
      const flags = await payload.uint(2);
      await payload.skipRest();
      columns.push({ type, collation, flags });
      result.columns.push({ name, type: typeName({ type, collation, flags }) });
    }
    await (await this.#opened.payloads.receive()).skipRest();
    return columns;
  }

  /** @returns the ending, or null after a row. */
  async #readRow(text: string, columns: ColumnTraits[], result: Result): Promise<Ending | null> {
    const payload = await this.#opened.payloads.receive();
    if (payload.left === 0) throw new ConnectionLost("a row has no bytes");
    const size = payload.left;
    const first = await payload.uint(1);
    if (first === ERROR) throw refusalOf(await payload.rest(MESSAGE_BYTES), text);
    if (first === END && size <= LONGEST_END_BYTES) return await readEnd(payload);
    result.rowCount = (result.rowCount ?? 0) + 1;
    if (result.isFull) {
      result.isTruncated = true;
      await payload.skipRest();
      return null;
    }
    result.beginRow();
    for (const [index, column] of columns.entries()) {
      const start = index === 0 ? first : await payload.uint(1);
      if (start === NULL_CELL) result.addNull();
      else await result.readCell(payload, await payload.number(start), toTextOf(column));
    }
    await payload.skipRest();
    return null;
  }

  /** A procedure may give several results; only the first is shown, but the procedure runs to its end. */
  async #skipFurtherResults(first: Ending, result: Result): Promise<Ending> {
    let last = first;
    while (last.hasMore) {
      const further = new Result(0);
      last = await this.#readResult("", further);
      if (further.columns.length > 0)
        result.addNotice({ severity: "NOTE", code: "0", message: "A further result is not shown." });
    }
    return last;
  }

  async #takeWarnings(result: Result): Promise<void> {
    const warnings = new Result(MAX_NOTICES);
    await this.#query(`show warnings limit ${MAX_NOTICES}`, warnings);
    for (const [severity, code, message] of warnings.rows)
      result.addNotice({
        severity: (severity ?? "").toUpperCase(),
        code: code ?? "",
        message: message ?? "",
      });
  }
}

async function readOk(payload: Payload, result: Result): Promise<Ending> {
  result.rowCount = await payload.number();
  await payload.number();
  const status = await payload.uint(2);
  const warnings = await payload.uint(2);
  await payload.skipRest();
  return endingOf(status, warnings);
}

async function readEnd(payload: Payload): Promise<Ending> {
  const warnings = await payload.uint(2);
  const status = await payload.uint(2);
  await payload.skipRest();
  return endingOf(status, warnings);
}

function endingOf(status: number, warnings: number): Ending {
  return {
    warnings,
    hasMore: (status & MORE_RESULTS) !== 0,
    isInTransaction: (status & IN_TRANSACTION) !== 0,
  };
}
