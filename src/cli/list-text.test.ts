// Lists in terminals of several widths.
import { expect, test } from "bun:test";
import { writeList } from "./list-text.ts";
import { fakeIo } from "./test-support.ts";

const HEADS = ["NAME", "STATUS", "REGION", "ADDRESS", "ID"];
const ADDRESS = "127.0.0.1:20001";
const ROWS = [
  ["sessions", "available", "eu-central-1", ADDRESS, "cache-01a0b1c2-0000-7000-8000-000000000001"],
  ["jobs", "available", "eu-central-1", ADDRESS, "cache-01a0b1c2-0000-7000-8000-000000000002"],
];

function written(rows: string[][], outColumns: number) {
  const io = fakeIo({ outColumns });
  writeList(io, HEADS, rows);
  return { heads: io.stdout.split("\n")[0]?.split(/ {2,}/), out: io.stdout, err: io.stderr };
}

test("a file or a pipe gets all columns", () => {
  expect(written(ROWS, Infinity)).toMatchObject({ heads: HEADS, err: "" });
});

test("a terminal with room for the longest line gets all columns", () => {
  const [width = 0] = written(ROWS, Infinity)
    .out.split("\n")
    .map((line) => line.length)
    .toSorted((one, other) => other - one);
  expect(written(ROWS, width)).toMatchObject({ heads: HEADS, err: "" });
  expect(written(ROWS, width - 1).heads).not.toContain("ID");
});

test("a terminal of 80 columns goes without the ids, for which names do as well", () => {
  const { heads, out, err } = written(ROWS, 80);
  expect(heads).toEqual(["NAME", "STATUS", "REGION", "ADDRESS"]);
  expect(out.split("\n").every((line) => line.length <= 80)).toBe(true);
  expect(err).toBe("No room here for ID; --json has all.\n");
});

test("a narrower terminal goes without the region as well", () => {
  expect(written(ROWS, 40)).toMatchObject({
    heads: ["NAME", "STATUS", "ADDRESS"],
    err: "No room here for ID, REGION; --json has all.\n",
  });
});

test("the ids stay where two things have one name", () => {
  const namesakes = ROWS.map((cells) => cells.with(0, "sessions"));
  expect(written(namesakes, 80).heads).toEqual(["NAME", "STATUS", "ADDRESS", "ID"]);
});
