// Pseudo-terminals of the kernel (pty(7)): a program at the slave finds a terminal, whose person is the holder of the
// master. Bun's own reads without a pause, so that an endless output would fill the memory of this process.
import { closeSync, constants, fchmodSync, fchownSync, openSync, writeSync } from "node:fs";
import { dlopen, FFIType, ptr } from "bun:ffi";
import { codeOf } from "./errors.ts";

/** The same number on x86-64 and arm64 (asm-generic). */
const TIOCSWINSZ = 0x5414n;
const MAX_PATH = 64;

/** The flags of input come first in `struct termios` (termios(3)); with this one, an erase takes a whole character. */
const IUTF8 = 0x4000;
const TERMIOS_BYTES = 60;
const TCSANOW = 0;

const { symbols: libc } = dlopen("libc.so.6", {
  posix_openpt: { args: [FFIType.i32], returns: FFIType.i32 },
  unlockpt: { args: [FFIType.i32], returns: FFIType.i32 },
  ptsname_r: { args: [FFIType.i32, FFIType.ptr, FFIType.u64], returns: FFIType.i32 },
  tcgetattr: { args: [FFIType.i32, FFIType.ptr], returns: FFIType.i32 },
  tcsetattr: { args: [FFIType.i32, FFIType.i32, FFIType.ptr], returns: FFIType.i32 },
  ioctl: { args: [FFIType.i32, FFIType.u64, FFIType.ptr], returns: FFIType.i32 },
});

interface OutputReader {
  read(): Promise<{ value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

interface Size {
  columns: number;
  rows: number;
}

/** A pseudo-terminal, of which this process holds both ends at first. */
export class PseudoTerminal {
  readonly #master: number;
  readonly #reader: OutputReader;
  #slave: number | null;
  #isOpen = true;

  /**
   * @param owner the user of the program, who may open the terminal by its name; null for this process's own.
   * @throws Error when the machine has no further pseudo-terminal.
   */
  constructor(size: Size, owner: { uid: number; gid: number } | null) {
    const { O_RDWR, O_NOCTTY, O_NONBLOCK } = constants;
    // Closed in the programs that this process starts: a terminal ends when its last master is closed.
    const closedOnExec = 0o2000000;
    this.#master = libc.posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | closedOnExec);
    if (this.#master < 0) throw new Error("the machine has no further pseudo-terminal");
    try {
      this.#slave = openSync(slavePath(this.#master), O_RDWR | O_NOCTTY);
    } catch (error) {
      closeSync(this.#master);
      throw error;
    }
    if (owner !== null) fchownSync(this.#slave, owner.uid, owner.gid);
    fchmodSync(this.#slave, 0o600);
    editCharacters(this.#slave);
    this.resize(size);
    this.#reader = Bun.file(this.#master).stream().getReader();
  }

  /** The end for the program. @throws Error after `started`. */
  get slave(): number {
    if (this.#slave === null) throw new Error("the slave is closed here");
    return this.#slave;
  }

  /** The program has its end: the output ends with its last process. */
  started(): void {
    if (this.#slave !== null) closeSync(this.#slave);
    this.#slave = null;
  }

  /** Reads some output, as soon as there is some; null at its end. Unread output has the program wait. */
  async read(): Promise<Uint8Array | null> {
    try {
      return (await this.#reader.read()).value ?? null;
    } catch {
      // The kernel says so by EIO.
      return null;
    }
  }

  /** Writes input. @returns how many bytes the kernel has taken; 0 while the program reads none. */
  write(bytes: Uint8Array): number {
    if (!this.#isOpen) return bytes.length;
    try {
      return writeSync(this.#master, bytes);
    } catch (error) {
      if (codeOf(error) === "EAGAIN") return 0;
      // No program is left that could read it.
      return bytes.length;
    }
  }

  /** Changes the size of the window, which its program is informed of by SIGWINCH. */
  resize({ columns, rows }: Size): void {
    if (this.#isOpen) libc.ioctl(this.#master, TIOCSWINSZ, ptr(new Uint16Array([rows, columns, 0, 0])));
  }

  /** Ends the terminal: its programs get SIGHUP, and the output ends. */
  async close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.started();
    // The stream holds a copy of the master.
    await this.#reader.cancel().catch(() => undefined);
    closeSync(this.#master);
  }
}

function editCharacters(slave: number): void {
  const termios = Buffer.alloc(TERMIOS_BYTES);
  if (libc.tcgetattr(slave, ptr(termios)) !== 0) return;
  termios.writeUInt32LE((termios.readUInt32LE(0) | IUTF8) >>> 0, 0);
  libc.tcsetattr(slave, TCSANOW, ptr(termios));
}

function slavePath(master: number): string {
  const path = Buffer.alloc(MAX_PATH);
  if (libc.unlockpt(master) !== 0 || libc.ptsname_r(master, ptr(path), BigInt(MAX_PATH)) !== 0)
    throw new Error("the pseudo-terminal has no slave");
  return path.toString("utf8", 0, path.indexOf(0));
}
