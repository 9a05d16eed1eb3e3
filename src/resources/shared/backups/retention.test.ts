// Which snapshots retention lets go, as far as the backups of an archive are known.
import { expect, test } from "bun:test";
import { isReleased } from "./retention.ts";

const day = (number: number) => `2026-03-0${number}T12:00:00.000000Z`;
const snapshot = { id: "own", completedAt: day(2) };
const backups = [{ completedAt: day(4) }];

test("a snapshot is released once a later backup reaches back as far as the window", () => {
  expect(isReleased(snapshot, { keepFrom: day(3), keepBackups: [] }, backups)).toBe(false);
  expect(isReleased(snapshot, { keepFrom: day(4), keepBackups: [] }, backups)).toBe(true);
  expect(isReleased(snapshot, { keepFrom: day(4), keepBackups: [] }, [])).toBe(false);
  expect(
    isReleased({ ...snapshot, completedAt: day(4) }, { keepFrom: day(5), keepBackups: [] }, backups),
  ).toBe(false);
});

test("a snapshot is kept that is named, and without a window released otherwise", () => {
  expect(isReleased(snapshot, { keepFrom: day(4), keepBackups: ["own"] }, backups)).toBe(false);
  expect(isReleased(snapshot, { keepFrom: null, keepBackups: ["own"] }, backups)).toBe(false);
  expect(isReleased(snapshot, { keepFrom: null, keepBackups: [] }, backups)).toBe(true);
});
