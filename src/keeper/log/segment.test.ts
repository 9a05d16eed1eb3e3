// Names of segments and pieces, positions, histories and instants.
import { describe, expect, test } from "bun:test";
import { microsecondsOf } from "./instant.ts";
import { currentPieces, logObjectsOf, pieceName, piecesEnd, type Mark } from "./objects.ts";
import {
  lsnText,
  parseHistory,
  parseHistoryName,
  parseLsn,
  parseSegmentName,
  segmentName,
} from "./segment.ts";

const MIB = 1_048_576;

describe("names of segments", () => {
  test("a name has the timeline and the number for its size of segments", () => {
    expect(parseSegmentName("00000002000000010000000A", 4 * MIB)).toEqual({ timeline: 2, number: 1024 + 10 });
    expect(parseSegmentName("00000002000000010000000A", 16 * MIB)).toEqual({ timeline: 2, number: 256 + 10 });
  });

  test("each number has a name, across the limit of 4 GiB", () => {
    for (const segmentBytes of [MIB, 4 * MIB, 16 * MIB, 1024 * MIB]) {
      for (const number of [0, 1, 3, 4, 255, 256, 1023, 1024, 1025, 70_000]) {
        const segment = { timeline: 17, number };
        expect(parseSegmentName(segmentName(segment, segmentBytes), segmentBytes)).toEqual(segment);
      }
    }
  });

  test("other files of the folder are no segments", () => {
    for (const name of [
      "archive_status",
      "00000001.history",
      "0000000100000000000000FF.partial",
      "xlogtemp.12",
    ]) {
      expect(parseSegmentName(name, 16 * MIB)).toBeNull();
    }
    expect(parseSegmentName("000000010000000000000100", 16 * MIB)).toBeNull();
    expect(parseSegmentName("00000001000000000000000a", 16 * MIB)).toBeNull();
  });

  test("positions are read and written as Postgres does", () => {
    expect(parseLsn("1/3000148")).toBe(2 ** 32 + 0x3000148);
    expect(lsnText(2 ** 32 + 0x3000148)).toBe("1/3000148");
    expect(() => parseLsn("3000148")).toThrow();
  });

  test("a history lists its ancestors", () => {
    expect(parseHistory("1\t0/3000148\tno recovery target specified\n\n2\t0/4000000\tbefore 2026\n")).toEqual(
      [
        { timeline: 1, leftAt: 0x3000148 },
        { timeline: 2, leftAt: 0x4000000 },
      ],
    );
    expect(() => parseHistory("nonsense 0/1")).toThrow();
    expect(parseHistoryName("00000011.history")).toBe(17);
  });
});

describe("pieces of a segment", () => {
  const segment = "000000010000000000000003";
  const piece = (generation: number, from: number, to: number, mark: Mark | null = null) => ({
    segment,
    generation,
    from,
    to,
    mark,
  });

  test("names are read back, and unknown names are left alone", () => {
    const known = [
      piece(1, 0, 300),
      piece(1, 300, 400, { count: 70_000, at: 1_795_437_296_123, lsn: 2 ** 40 }),
    ];
    const names = [...known.map(pieceName), segment, "00000002.history", "watermark.json", "x"];
    const { segments, pieces, histories } = logObjectsOf(names);
    expect([...segments]).toEqual([segment]);
    expect(pieces).toEqual(known);
    expect([...histories]).toEqual([2]);
  });

  test("pieces follow one another up to the first that is missing", () => {
    const pieces = [piece(1, 0, 100), piece(1, 100, 250), piece(1, 300, 400)];
    expect(piecesEnd(pieces, segment)).toBe(250);
    expect(piecesEnd(pieces.slice(1), segment)).toBe(0);
  });

  test("a piece that was stored by an attempt that failed is followed by the longer one", () => {
    expect(currentPieces([piece(1, 0, 100), piece(1, 0, 160), piece(1, 160, 200)], segment)).toEqual([
      piece(1, 0, 160),
      piece(1, 160, 200),
    ]);
  });

  test("a generation counts from its first piece on, and then alone", () => {
    const pieces = [piece(1, 0, 100), piece(1, 100, 900), piece(2, 0, 500), piece(3, 500, 800)];
    expect(currentPieces(pieces, segment)).toEqual([piece(2, 0, 500)]);
  });
});

test("instants keep their microseconds", () => {
  expect(microsecondsOf("2026-11-22T14:40:10.968985Z") % 1_000_000).toBe(968_985);
  expect(microsecondsOf("2026-11-22T14:40:10.9Z") % 1_000_000).toBe(900_000);
  expect(microsecondsOf("2026-11-22T14:40:10Z")).toBe(microsecondsOf("2026-11-22T15:40:10+01:00"));
  expect(() => microsecondsOf("tomorrow")).toThrow();
});
