// Envelopes: what goes in comes out, and nothing else does.
import { describe, expect, test } from "bun:test";
import { Sealer } from "./envelope.ts";
import { DamagedObject, WrongKey } from "./object-store.ts";
import { bytesOf, KEY } from "./test-support.ts";

const NAME = "archives/database-1/backups/snapshot-1/parts/000000";
const sealer = new Sealer(KEY);

describe("an envelope", () => {
  test.each([
    ["nothing", new Uint8Array()],
    ["zeros, compressed", new Uint8Array(1_000_000)],
    ["random bytes, as they are", bytesOf(100_000)],
  ])("gives %s back", async (_, plain) => {
    const sealed = await sealer.seal(NAME, plain);
    expect(Buffer.compare(await sealer.open(NAME, sealed), plain)).toBe(0);
  });

  test("of zeros is small, and of random bytes hardly larger than these", async () => {
    expect((await sealer.seal(NAME, new Uint8Array(4 * 1024 ** 2))).length).toBeLessThan(1_000);
    expect((await sealer.seal(NAME, bytesOf(100_000))).length).toBeLessThan(100_500);
  });

  test("of an object that another replaces soon is opened as any other", async () => {
    const plain = Buffer.from("abc ".repeat(100_000));
    expect(Buffer.from(await sealer.open(NAME, await sealer.seal(NAME, plain, true))).equals(plain)).toBe(
      true,
    );
  });

  test("shows nothing of its content, and is another one each time", async () => {
    const plain = Buffer.from("secret ".repeat(3));
    const sealed = Buffer.from(await sealer.seal(NAME, plain));
    expect(sealed.includes("secret")).toBe(false);
    expect(sealed.equals(Buffer.from(await sealer.seal(NAME, plain)))).toBe(false);
  });

  test("is refused under another name", async () => {
    const sealed = await sealer.seal(NAME, bytesOf(10));
    const other = NAME.replace("000000", "000001");
    expect(await faultOf(other, sealed)).toEqual([DamagedObject, other]);
  });

  test("is refused by another key, which is named as the reason", async () => {
    const sealed = await new Sealer(new Uint8Array(32).fill(8)).seal(NAME, bytesOf(10));
    expect(await faultOf(NAME, sealed)).toEqual([WrongKey, NAME]);
  });

  test("is refused when any bit of it is another one", async () => {
    const sealed = await sealer.seal(NAME, bytesOf(40));
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = sealed.slice();
      changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
      const [kind, name] = await faultOf(NAME, changed);
      expect([at, kind === DamagedObject || kind === WrongKey, name]).toEqual([at, true, NAME]);
    }
  });

  test("is refused when it is cut short anywhere, or longer", async () => {
    const sealed = await sealer.seal(NAME, bytesOf(40));
    for (let length = 0; length < sealed.length; length += 1)
      expect(await faultOf(NAME, sealed.slice(0, length))).toEqual([DamagedObject, NAME]);
    expect(await faultOf(NAME, Buffer.concat([sealed, new Uint8Array(1)]))).toEqual([DamagedObject, NAME]);
  });

  test("that claims a header of any length is refused without reading beyond its end", async () => {
    const sealed = Buffer.from(await sealer.seal(NAME, bytesOf(40)));
    for (const length of [0, 1, 2_048, 2_049, 0xffff_ffff]) {
      sealed.writeUInt32BE(length, 4);
      expect(await faultOf(NAME, sealed)).toEqual([DamagedObject, NAME]);
    }
  });
});

async function faultOf(name: string, sealed: Uint8Array): Promise<[unknown, string]> {
  const error: unknown = await sealer.open(name, sealed).then(
    () => null,
    (fault: unknown) => fault,
  );
  if (error instanceof DamagedObject || error instanceof WrongKey) return [error.constructor, error.object];
  throw new Error(`no fault that names the object: ${String(error)}`);
}
