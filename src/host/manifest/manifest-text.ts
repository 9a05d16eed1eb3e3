// The text of a manifest, of which no more is read than a manifest needs, however large the file is.
import { closeSync, fstatSync, openSync, readFileSync, readSync } from "node:fs";

/** Far more than any manifest has whose users are bounded. One that is longer was written by an earlier release, for all its users. */
const MAX_BYTES = 8 * 1024 ** 2;

/** What stands before the users, with all that the owner wished for, and what stands behind them. */
const [HEAD_BYTES, TAIL_BYTES] = [4 * 1024 ** 2, 64 * 1024];

/** Where the users begin and end. Within a text of a customer's each quotation mark has a backslash before it, so it has none of these. */
const [SLEEP, USERS, AFTER_USERS] = ['"sleep":{', '"users":[', '],"lastWake":'];

/**
 * Reads a manifest. Of one that is too long, the users are left out that the engine told of: it tells of them again at its next
 * start, and until then the users of the spec are known.
 * @throws when there is none, or what is too long is no manifest.
 */
export function readBounded(path: string): string {
  const fd = openSync(path, "r");
  try {
    const { size } = fstatSync(fd);
    if (size <= MAX_BYTES) return readFileSync(fd, "utf8");
    return withoutUsers(readPart(fd, 0, HEAD_BYTES), readPart(fd, size - TAIL_BYTES, TAIL_BYTES));
  } finally {
    closeSync(fd);
  }
}

/** The bytes are taken for Latin-1, so that none is lost where a part begins or ends within a character. */
function withoutUsers(head: string, tail: string): string {
  const usersAt = head.indexOf(USERS, head.indexOf(SLEEP)) + USERS.length;
  const afterAt = tail.lastIndexOf(AFTER_USERS);
  if (!head.includes(SLEEP) || usersAt < USERS.length || afterAt < 0) throw new Error("it is too long");
  // The bound of users adds those of the spec to a list that is not whole.
  const leftOut = ',"usersLeftOut":1';
  const text = `${head.slice(0, usersAt)}]${leftOut}${tail.slice(afterAt + 1)}`;
  return Buffer.from(text, "latin1").toString("utf8");
}

function readPart(fd: number, position: number, length: number): string {
  const part = Buffer.alloc(length);
  return part.toString("latin1", 0, readSync(fd, part, 0, length, position));
}
