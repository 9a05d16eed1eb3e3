// The file in which series outlive the process.
import { readFileSync, renameSync } from "node:fs";
import { promisify } from "node:util";
import { gunzipSync, gzip, gzipSync } from "node:zlib";
import { replaceFile } from "../../lib/files.ts";
import type { Log } from "../../lib/line-log.ts";
import { decodeSeries, encodeSeries, type Series } from "./series.ts";

const FILE_MODE = 0o600;
const VERSION = 1;
/** Fast, since most of the content is the same bytes over and over. */
const GZIP_LEVEL = 1;
/** Far more than thousands of applications take; a file that claims more gets no memory. */
const MAX_FILE_BYTES = 1024 ** 3;

const gzipAsync = promisify(gzip);

/** The content of the file under base64 and gzip. */
interface Content {
  version: number;
  /** Base64 of `encodeSeries` by id. */
  series: Record<string, string>;
}

/** @returns no series when there is no file; a file that cannot be understood is renamed to `*.damaged` and logged. */
export function readSeries(file: string, log: Log): Map<string, Series> {
  try {
    return decode(readFileSync(file, "latin1"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return new Map();
    log.error({ error, file }, "The saved metrics are damaged and were set aside.");
    setAside(file, log);
    return new Map();
  }
}

/** Replaces the file in one step; compresses on another thread. */
export async function writeSeries(file: string, all: Map<string, Series>): Promise<void> {
  replaceFile(file, text(await gzipAsync(encode(all), { level: GZIP_LEVEL })), FILE_MODE);
}

export function writeSeriesSync(file: string, all: Map<string, Series>): void {
  replaceFile(file, text(gzipSync(encode(all), { level: GZIP_LEVEL })), FILE_MODE);
}

function text(compressed: Buffer): string {
  return compressed.toString("base64");
}

function encode(all: Map<string, Series>): string {
  const series: Content["series"] = {};
  for (const [id, each] of all) series[id] = Buffer.from(encodeSeries(each)).toString("base64");
  return JSON.stringify({ version: VERSION, series } satisfies Content);
}

/** @throws Error when the content is not in the form that `encode` writes. */
function decode(content: string): Map<string, Series> {
  const json = gunzipSync(Buffer.from(content, "base64"), { maxOutputLength: MAX_FILE_BYTES }).toString();
  const { version, series } = JSON.parse(json) as Content;
  if (version !== VERSION) throw new RangeError("The version of the saved metrics is another.");
  return new Map(
    Object.entries(series).map(([id, encoded]) => [id, decodeSeries(Buffer.from(encoded, "base64"))]),
  );
}

function setAside(file: string, log: Log): void {
  try {
    renameSync(file, `${file}.damaged`);
  } catch (error) {
    log.error({ error, file }, "The damaged metrics could not be set aside.");
  }
}
