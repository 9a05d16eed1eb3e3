// The names of MariaDB's column types, and how their cells are written as text.
import { hexOf, textOf } from "./result.ts";

/** The collation of columns that hold bytes and not text. */
const BINARY = 63;

const UNSIGNED = 0x20;
const ENUM = 0x100;
const SET = 0x800;

/** Types by their number in the protocol; a text and its binary counterpart share a number. */
const NAMES: Record<number, string | [text: string, binary: string]> = {
  0: "decimal",
  1: "tinyint",
  2: "smallint",
  3: "int",
  4: "float",
  5: "double",
  6: "null",
  7: "timestamp",
  8: "bigint",
  9: "mediumint",
  10: "date",
  11: "time",
  12: "datetime",
  13: "year",
  15: ["varchar", "varbinary"],
  16: "bit",
  245: "json",
  246: "decimal",
  247: "enum",
  248: "set",
  249: ["tinytext", "tinyblob"],
  250: ["mediumtext", "mediumblob"],
  251: ["longtext", "longblob"],
  252: ["text", "blob"],
  253: ["varchar", "varbinary"],
  254: ["char", "binary"],
  255: "geometry",
};

const BIT = 16;
const GEOMETRY = 255;

/** A column as the protocol describes it. */
export interface ColumnTraits {
  type: number;
  collation: number;
  flags: number;
}

export function typeName({ type, collation, flags }: ColumnTraits): string {
  if ((flags & ENUM) !== 0) return "enum";
  if ((flags & SET) !== 0) return "set";
  const name = NAMES[type] ?? `type ${type}`;
  if (typeof name === "string") return isNumber(type) && (flags & UNSIGNED) !== 0 ? `${name} unsigned` : name;
  return name[collation === BINARY ? 1 : 0];
}

/** How the bytes of a cell become text: bytes that are no text in hexadecimal digits. */
export function toTextOf({ type, collation }: ColumnTraits): (bytes: Buffer) => string {
  const isBinary = type === BIT || type === GEOMETRY || (collation === BINARY && Array.isArray(NAMES[type]));
  return isBinary ? hexOf : textOf;
}

function isNumber(type: number): boolean {
  return type <= 9 && type !== 6 && type !== 7;
}
