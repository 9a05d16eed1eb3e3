// Follows a client's packets after the login: their ends, use of the instance, changes of the user, and thread ids.
import type { MessageFramer } from "../backend.ts";
import { type Answers, lengthAt } from "./answers.ts";
import { LongData } from "./long-data.ts";
import { mayNameThreads, type ThreadIds } from "./thread-ids.ts";

const COM_QUIT = 0x01;
const COM_STATISTICS = 0x09;
const COM_PING = 0x0e;
const COM_CHANGE_USER = 0x11;
/** A command of no version; the engine answers that it is unknown. */
const NO_COMMAND = 0xff;

const HEADER_BYTES = 4;
/** The next packet continues a packet of this length. */
const FULL_LENGTH = 0xff_ffff;
const LAST_SEQUENCE = 0xff;

/** The rule for COM_CHANGE_USER. */
export interface UserRule {
  /** Whether the engine may get a command with this payload. */
  allows(payload: Uint8Array): boolean;
  /** Resolves when users that were made meanwhile are known. */
  learn(): Promise<void>;
}

export class MysqlFramer implements MessageFramer {
  readonly #users: UserRule;
  readonly #threadIds: ThreadIds;
  readonly #answers: Answers;
  readonly #longData = new LongData();
  #header = 0;
  #headerBytes = 0;
  /** The missing bytes of the payload under way. */
  #remaining = 0;
  #length = 0;
  #sequence = 0;
  #isAtCommand = false;
  /** Whether the packet under way belongs to a file that the engine has asked for. */
  #isOfFile = false;
  #isUse = false;

  constructor(users: UserRule, threadIds: ThreadIds, answers: Answers) {
    this.#users = users;
    this.#threadIds = threadIds;
    this.#answers = answers;
  }

  get isBetweenMessages(): boolean {
    const isWhole = this.#headerBytes === 0 && this.#remaining === 0 && this.#length !== FULL_LENGTH;
    return isWhole && !this.#answers.isInTransaction && !this.#longData.isPending;
  }

  get isAnswered(): boolean {
    return this.#answers.isComplete;
  }

  observe(bytes: Uint8Array, length: number): void {
    this.#answers.observe(bytes, length);
  }

  question(bytes: Uint8Array, length: number): Promise<void> | null {
    if (this.#headerBytes > 0 || this.#remaining > 0 || this.#answers.awaitsFile) return null;
    for (let at = 0; at + HEADER_BYTES < length;) {
      const start = at + HEADER_BYTES;
      const isChange = bytes[start] === COM_CHANGE_USER && bytes[start - 1] === 0;
      at = start + lengthAt(bytes, at);
      const isWhole = at > start && at <= length;
      if (isChange && isWhole && !this.#users.allows(bytes.subarray(start, at))) return this.#users.learn();
    }
    return null;
  }

  walk(bytes: Uint8Array, length: number): boolean {
    let used = false;
    let at = 0;
    while (at < length) {
      if (this.#remaining === 0) {
        this.#takeHeaderByte(bytes[at] ?? 0);
        at++;
        continue;
      }
      const isCommand = this.#isAtCommand;
      if (isCommand) this.#takeCommand(bytes, at, length);
      const taken = Math.min(this.#remaining, length - at);
      if (this.#longData.isReading) this.#longData.take(bytes, isCommand ? at + 1 : at, at + taken);
      this.#remaining -= taken;
      at += taken;
      used ||= this.#isUse;
    }
    return used;
  }

  #takeHeaderByte(byte: number): void {
    this.#header |= byte << (8 * this.#headerBytes);
    if (++this.#headerBytes < HEADER_BYTES) return;
    this.#beginPacket(this.#header & FULL_LENGTH, this.#header >>> 24);
    this.#header = 0;
    this.#headerBytes = 0;
  }

  #beginPacket(length: number, sequence: number): void {
    const continues = this.#length === FULL_LENGTH;
    // Sequence numbers begin anew with each command. They wrap around in a long file for LOAD DATA LOCAL, which ends
    // with an empty packet.
    const goesRound = this.#sequence === LAST_SEQUENCE && this.#length > 0;
    this.#isAtCommand = sequence === 0 && !continues && !goesRound;
    // Its first packet may have the number 0, too. It is no command that an answer follows, but it is checked as a
    // command: only the engine knows for sure which of both it takes it for.
    this.#isOfFile = this.#answers.awaitsFile;
    if (this.#isOfFile && length === 0 && !continues) this.#answers.endFile();
    if (!continues) this.#isUse = true;
    this.#length = length;
    this.#sequence = sequence;
    this.#remaining = length;
  }

  #takeCommand(bytes: Uint8Array, at: number, length: number): void {
    this.#isAtCommand = false;
    const command = bytes[at] ?? NO_COMMAND;
    if (!this.#isOfFile) {
      this.#answers.ask(command);
      this.#longData.begin(command);
    }
    this.#isUse =
      this.#isOfFile || (command !== COM_PING && command !== COM_QUIT && command !== COM_STATISTICS);
    const mayName = mayNameThreads(command, this.#length);
    if (command !== COM_CHANGE_USER && !mayName) return;
    // Drivers send the command in one piece; an incomplete command cannot be checked.
    const isWhole = this.#length <= length - at && this.#length < FULL_LENGTH;
    if (mayName) {
      if (isWhole) this.#threadIds.replaceIn(bytes.subarray(at, at + this.#length));
      return;
    }
    if (isWhole && this.#users.allows(bytes.subarray(at, at + this.#length))) return;
    bytes[at] = NO_COMMAND;
  }
}
