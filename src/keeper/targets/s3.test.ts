// A bucket as a target, with a server that verifies signatures, fails and hangs.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { S3Server } from "../../../tests/support/s3/s3-server.ts";
import { MissingObject } from "../object-store.ts";
import { bytesOf } from "../test-support.ts";
import { S3Target } from "./s3.ts";
import { TargetError } from "./target.ts";

const NAME = "archives/cache-1/backups/one/parts/000000";

let server: S3Server;

beforeEach(() => {
  server = new S3Server().start();
});

afterEach(async () => {
  server.fault = null;
  await server.stop();
});

function target({
  prefix = "pilvi",
  secretAccessKey = server.credentials.secretAccessKey,
  bucket = server.bucket,
  timeoutMs = 30_000,
} = {}) {
  const { endpoint, credentials } = server;
  return new S3Target(
    { bucket, prefix, endpoint, region: "eu-central-1", ...credentials, secretAccessKey },
    { firstRetryMs: 5, timeoutMs },
  );
}

async function faultOf(work: Promise<unknown>): Promise<unknown> {
  return await work.then(
    () => null,
    (error: unknown) => error,
  );
}

describe("a bucket", () => {
  test("keeps objects under its prefix", async () => {
    const bytes = bytesOf(300_000);
    await target().write(NAME, bytes);
    expect([...server.objects.keys()]).toEqual([`pilvi/${NAME}`]);
    expect(Buffer.compare(await target().read(NAME), bytes)).toBe(0);
    expect(await target().list("archives/")).toEqual([{ name: NAME, storedBytes: bytes.length }]);
    expect(await faultOf(target({ prefix: "" }).read(NAME))).toBeInstanceOf(MissingObject);
    await target().delete(NAME);
    await target().delete(NAME);
    expect(await target().list("")).toEqual([]);
    expect(await faultOf(target().read(NAME))).toMatchObject({ object: NAME });
  });

  test("lists more objects than one answer has, in order", async () => {
    const names = Array.from(
      { length: 2_345 },
      (_, index) => `archives/a/log/${String(index).padStart(6, "0")}`,
    );
    for (const name of names.toReversed()) server.objects.set(`pilvi/${name}`, new Uint8Array(3));
    const listed = await target().list("archives/a/");
    expect(listed.map(({ name }) => name)).toEqual(names);
    expect(server.requests.get("GET")).toBe(3);
  });

  test("gets eight requests at once at most, three of them about one archive", async () => {
    const one = target();
    const write = async (archive: string) =>
      await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          one.write(`archives/${archive}/log/${index}`, bytesOf(1_000)),
        ),
      );
    await write("a");
    expect([server.objects.size, server.mostAtOnce <= 3]).toEqual([10, true]);
    await Promise.all(["a", "b", "c", "d", "e"].map(write));
    expect([server.objects.size, server.mostAtOnce <= 8]).toEqual([50, true]);
  });

  test("gives an object back whose bytes take longer on a slow line than a request without bytes may", async () => {
    const bytes = bytesOf(512_000);
    const slow = target({ timeoutMs: 2_000 });
    await slow.write(NAME, bytes);
    server.pieceMs = 400;
    expect(Buffer.compare(await slow.read(NAME), bytes)).toBe(0);
  });

  test("refuses a name that leads elsewhere", async () => {
    for (const name of ["../other", "a//b", "/a", "a/./b", "a?b", ""])
      expect(await faultOf(target().write(name, bytesOf(1)))).toMatchObject({
        message: expect.stringContaining("not a name"),
      });
    expect(server.objects.size).toBe(0);
  });
});

describe("a failing bucket", () => {
  test.each(["fails", "hangs", "stalls"] as const)("that %s for a moment is asked again", async (fault) => {
    const failing = target({ timeoutMs: fault === "fails" ? 30_000 : 1_000 });
    await failing.write(NAME, bytesOf(10));
    Object.assign(server, { fault, faultCount: 2 });
    expect(await failing.read(NAME)).toHaveLength(10);
    Object.assign(server, { fault, faultCount: 1 });
    expect(await failing.list("")).toHaveLength(1);
  });

  test("that stays unavailable is asked four times, and named", async () => {
    server.fault = "fails";
    const error = await faultOf(target().write(NAME, bytesOf(10)));
    expect(error).toBeInstanceOf(TargetError);
    expect(error).toMatchObject({
      message: "The backup target s3://backups/pilvi refused a request (503 SlowDown).",
    });
    expect(server.requests.get("PUT")).toBe(4);
  });

  test("that denies access is asked once", async () => {
    server.fault = "denies";
    const refused = "refused a request (403 AccessDenied)";
    expect(await faultOf(target().read(NAME))).toMatchObject({ message: expect.stringContaining(refused) });
    expect(await faultOf(target().list(""))).toMatchObject({
      message: expect.stringContaining("AccessDenied"),
    });
    expect(server.requests.get("GET")).toBe(2);
  });

  test("is named when the secret or the bucket is wrong, without the secret", async () => {
    for (const [wrong, code] of [
      [{ secretAccessKey: "wrong-secret" }, "SignatureDoesNotMatch"],
      [{ bucket: "other" }, "NoSuchBucket"],
    ] as const) {
      const error = await faultOf(target(wrong).write(NAME, bytesOf(10)));
      expect(error).toBeInstanceOf(TargetError);
      expect(String(error)).toContain(code);
      expect(Bun.inspect(error)).not.toContain("wrong-secret");
    }
  });

  test("that is not there does not answer", async () => {
    await server.stop();
    expect(await faultOf(target().write(NAME, bytesOf(10)))).toMatchObject({
      message: expect.stringContaining("does not answer"),
    });
    expect(await faultOf(target().list(""))).toBeInstanceOf(TargetError);
    server.start();
    await target().write(NAME, bytesOf(10));
  });
});
