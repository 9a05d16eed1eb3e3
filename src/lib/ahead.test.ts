// Items that are made while the items before them are used.
import { expect, test } from "bun:test";
import { ahead } from "./ahead.ts";

async function damagedSecond(index: number): Promise<number> {
  if (index === 1) throw new Error("damaged");
  return index;
}

test("items come in order, and only the next is made ahead", async () => {
  const made: number[] = [];
  const seen: [number, number[]][] = [];
  const make = async (index: number) => {
    made.push(index);
    return index;
  };
  for await (const item of ahead(3, make)) seen.push([item, [...made]]);
  expect(seen).toEqual([
    [0, [0, 1]],
    [1, [0, 1, 2]],
    [2, [0, 1, 2]],
  ]);
  expect(await Array.fromAsync(ahead(0, make))).toEqual([]);
});

test("an error comes in the turn of its item, and to nobody who stops before", async () => {
  const items = ahead(3, damagedSecond);
  expect(await items.next()).toEqual({ done: false, value: 0 });
  await expect(items.next()).rejects.toThrow("damaged");
  for await (const item of ahead(3, damagedSecond)) {
    expect(item).toBe(0);
    break;
  }
});
