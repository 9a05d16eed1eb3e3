// The statements that have got parts of their parameters (COM_STMT_SEND_LONG_DATA) and wait for their execution.

const COM_CHANGE_USER = 0x11;
const COM_STMT_EXECUTE = 0x17;
const COM_STMT_SEND_LONG_DATA = 0x18;
const COM_STMT_CLOSE = 0x19;
const COM_STMT_RESET = 0x1a;
const COM_RESET_CONNECTION = 0x1f;
/** MariaDB's execution with many rows of parameters. */
const COM_STMT_BULK_EXECUTE = 0xfa;

/** The number of a statement follows the command. */
const ID_BYTES = 4;
/** More statements of a session are not known, so that a client that never executes any costs no more than others. */
const MAX_STATEMENTS = 1_024;

/** A disconnect between the parts of a parameter and the execution would cut a statement that has begun. */
export class LongData {
  readonly #statements = new Set<number>();
  #command = 0;
  #id = 0;
  #idBytes = ID_BYTES;

  /** Whether a statement waits for its execution. */
  get isPending(): boolean {
    return this.#statements.size > 0;
  }

  /** Whether the next bytes of the command are its statement's number. */
  get isReading(): boolean {
    return this.#idBytes < ID_BYTES;
  }

  /** Takes the first byte of a command. */
  begin(command: number): void {
    this.#command = command;
    this.#id = 0;
    this.#idBytes = isAboutStatement(command) ? 0 : ID_BYTES;
    if (command === COM_RESET_CONNECTION || command === COM_CHANGE_USER) this.#statements.clear();
  }

  /** Takes bytes of the command from `start` to before `end`; those after the statement's number do not matter. */
  take(bytes: Uint8Array, start: number, end: number): void {
    for (let at = start; at < end && this.isReading; at++) {
      this.#id += (bytes[at] ?? 0) * 256 ** this.#idBytes;
      this.#idBytes += 1;
      if (!this.isReading) this.#settle();
    }
  }

  #settle(): void {
    if (this.#command !== COM_STMT_SEND_LONG_DATA) this.#statements.delete(this.#id);
    else if (this.#statements.size < MAX_STATEMENTS) this.#statements.add(this.#id);
  }
}

function isAboutStatement(command: number): boolean {
  switch (command) {
    case COM_STMT_SEND_LONG_DATA:
    case COM_STMT_EXECUTE:
    case COM_STMT_BULK_EXECUTE:
    case COM_STMT_CLOSE:
    case COM_STMT_RESET:
      return true;
    default:
      return false;
  }
}
