// Extended headers of archives: honest ones say more about an entry, and a hostile archive has nothing else.
import { expect, test } from "bun:test";
import { ByteReader } from "./byte-reader.ts";
import { tarEntries } from "./tar.ts";
import { refusalOf, streamed, tarOf, type TestEntry } from "./test-support.ts";

async function pathsOf(archive: AsyncIterable<Uint8Array>): Promise<string[]> {
  const paths: string[] = [];
  for await (const { path } of tarEntries(new ByteReader(archive, Infinity))) paths.push(path);
  return paths;
}

/** An archive of that entry without an end, and the number of times that it was read. */
function endless(entry: TestEntry): { archive: AsyncIterable<Uint8Array>; reads(): number } {
  const part = tarOf([entry], false);
  let reads = 0;
  async function* parts() {
    for (; reads < 1_000; reads += 1) yield part;
    await Promise.resolve();
  }
  return { archive: parts(), reads: () => reads };
}

test.each(["x", "g", "L", "K"])(
  "an archive of nothing but headers of the type %s is refused at once",
  async (type) => {
    const { archive, reads } = endless({ path: "long", type });
    expect(await refusalOf(pathsOf(archive))).toBe(
      "The archive is damaged: it has too many headers before an entry.",
    );
    expect(reads()).toBeLessThan(10);
  },
);

test("each of many entries may have a header of each kind", async () => {
  const names = Array.from({ length: 20 }, (_, at) => `${"n".repeat(120)}-${at}`);
  const archive = tarOf(
    names.flatMap((name) => [
      { path: "global", type: "g", content: "15 comment=abc\n" },
      { path: "pax", type: "x", content: "15 comment=abc\n" },
      { path: "././@LongLink", type: "K", content: `${name}\0` },
      { path: "././@LongLink", type: "L", content: `${name}\0` },
      { path: name.slice(0, 100), content: "a" },
    ]),
  );
  expect(await pathsOf(streamed(archive))).toEqual(names);
});
