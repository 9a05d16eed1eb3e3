// Reads the text of a manifest, and no more of it than a manifest needs, however large the file is.
import { closeSync, fstatSync, openSync, readFileSync, readSync } from "node:fs";

/** Far longer than any manifest with bounded users. Only earlier releases, which kept all users, wrote longer files. */
const MAX_BYTES = 8 * 1024 ** 2;

/** The part before the users, with the whole spec, and the part after them. */
const [HEAD_BYTES, TAIL_BYTES] = [4 * 1024 ** 2, 64 * 1024];

/** The marks around the users. JSON escapes each quotation mark in a customer's text, so no such text contains them. */
const [SLEEP, USERS, AFTER_USERS] = ['"sleep":{', '"users":[', '],"lastWake":'];

/**
 * Reads a manifest. For a file that is too long, the users that the engine reported are left out. The engine reports
 * them again at its next start; until then only the users of the spec are known.
 * @throws when the file is missing, or is too long and not a manifest.
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

/** Decodes the bytes as Latin-1, so that a cut within a character loses no byte. */
function withoutUsers(head: string, tail: string): string {
  const usersAt = head.indexOf(USERS, head.indexOf(SLEEP)) + USERS.length;
  const afterAt = tail.lastIndexOf(AFTER_USERS);
  if (!head.includes(SLEEP) || usersAt < USERS.length || afterAt < 0) throw new Error("it is too long");
  // The bound of users adds the spec's users to an incomplete list.
  const leftOut = ',"usersLeftOut":1';
  const text = `${head.slice(0, usersAt)}]${leftOut}${tail.slice(afterAt + 1)}`;
  return Buffer.from(text, "latin1").toString("utf8");
}

function readPart(fd: number, position: number, length: number): string {
  const part = Buffer.alloc(length);
  return part.toString("latin1", 0, readSync(fd, part, 0, length, position));
}
