// Compressed answers, in the encodings that a client takes.
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

/** The encodings, the smallest first, with the ending of a compressed copy of a file. */
export const ENCODINGS = [
  { name: "br", ending: ".br" },
  { name: "gzip", ending: ".gz" },
] as const;

export type Encoding = (typeof ENCODINGS)[number];

/** A fifth larger than the best, in a hundredth of the time. */
const BROTLI_QUALITY = 5;

const compressors = {
  br: promisify(brotliCompress),
  gzip: promisify(gzip),
};

/** The smallest encoding that a client takes. @param accepted the header `Accept-Encoding`. */
export function encodingFor(accepted: string): Encoding | undefined {
  return ENCODINGS.find(({ name }) => accepts(accepted, name));
}

/** Compresses a text outside of the event loop. Never for a text with a secret, which its length could betray. */
export async function compress(text: string, { name }: Encoding): Promise<Uint8Array<ArrayBuffer>> {
  const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY };
  return Uint8Array.from(await (name === "br" ? compressors.br(text, { params }) : compressors.gzip(text)));
}

function accepts(header: string, encoding: string): boolean {
  return header.split(",").some((each) => {
    const [name = "", ...parameters] = each.split(";").map((part) => part.trim().toLowerCase());
    return name === encoding && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}
