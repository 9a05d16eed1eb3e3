// First packets of clients, valid and invalid.
import { describe, expect, test } from "bun:test";
import { ProtocolError } from "./errors.ts";
import { cancelRequest, int32, startupMessage } from "./messages.ts";
import { newestVersionOf, readOpening, type Opening, type Startup } from "./startup-packet.ts";

const NEWEST = 0x3_0002;

/** A packet without its length. */
function packet(version: number, ...texts: string[]): Buffer {
  return Buffer.concat([int32(version), Buffer.from(texts.map((text) => `${text}\0`).join(""), "latin1")]);
}

function open(bytes: Buffer): Opening {
  return readOpening(bytes, NEWEST);
}

function startupOf(bytes: Buffer, newest = NEWEST): Startup {
  const opening = readOpening(bytes, newest);
  if (opening.kind !== "startup") throw new Error(`it is a ${opening.kind}`);
  return opening.startup;
}

function errorOf(bytes: Buffer, newest = NEWEST): string {
  try {
    readOpening(bytes, newest);
  } catch (error) {
    if (error instanceof ProtocolError) return error.toBytes().toString("latin1", 5);
    throw error;
  }
  throw new Error("nothing was thrown");
}

describe("readOpening", () => {
  test("recognizes requests for TLS, GSSAPI encryption and a cancel", () => {
    expect(open(int32(80_877_103))).toEqual({ kind: "tls" });
    expect(open(int32(80_877_104))).toEqual({ kind: "gss" });
    const cancel = cancelRequest(7, Buffer.from("abcd")).subarray(4);
    expect(open(cancel)).toEqual({ kind: "cancel", pid: 7, key: Buffer.from("abcd") });
  });

  test.each([0, 257, 1000])("reads a cancel with a key of %d bytes as invalid", (length) => {
    expect(open(cancelRequest(7, Buffer.alloc(length)).subarray(4))).toEqual({ kind: "invalid" });
  });

  test("reads the user and the database, and keeps the other parameters unchanged", () => {
    const startup = startupOf(
      packet(0x3_0000, "application_name", "app \xe9", "user", "ann", "database", "main", "x.y", "1", ""),
    );
    expect(startup).toMatchObject({ user: "ann", database: "main", version: 0x3_0000, isTooNew: false });
    expect(startup.unknownOptions).toEqual([]);
    expect(startupMessage(startup.parameters).subarray(4)).toEqual(
      packet(0x3_0000, "user", "ann", "database", "main", "application_name", "app \xe9", "x.y", "1", ""),
    );
  });

  test("reads names in UTF-8, cuts them like Postgres, and takes the last of several", () => {
    const name = Buffer.from("zoë").toString("latin1");
    const startup = startupOf(packet(0x3_0000, "user", "ann", "user", name, "database", "d".repeat(80), ""));
    expect(startup.user).toBe("zoë");
    expect(startup.database).toBe("d".repeat(63));
    expect(startup.parameters).toEqual([
      ["user", name],
      ["database", "d".repeat(63)],
    ]);
  });

  test("leaves an empty database to the engine", () => {
    const startup = startupOf(packet(0x3_0000, "user", "ann", "database", "", ""));
    expect(startup.database).toBeUndefined();
    expect(startup.parameters).toEqual([["user", "ann"]]);
  });

  test.each([
    [0x3_0000, 0x3_0000, false],
    [0x3_0001, 0x3_0001, false],
    [0x3_0002, 0x3_0002, false],
    [0x3_0003, 0x3_0002, true],
    [0x3_270f, 0x3_0002, true],
  ])("answers a request for version %d with version %d", (asked, agreed, isTooNew) => {
    expect(startupOf(packet(asked, "user", "ann", ""))).toMatchObject({ version: agreed, isTooNew });
  });

  test.each([
    ["14.23", 0x3_0002, 0x3_0000, true],
    ["17.10", 0x3_0001, 0x3_0000, true],
    ["17.10", 0x3_0000, 0x3_0000, false],
    ["18.4", 0x3_0002, 0x3_0002, false],
    ["19beta1", 0x3_0002, 0x3_0002, false],
  ])(
    "agrees for Postgres %s and a request for version %d on version %d",
    (version, asked, agreed, isTooNew) => {
      const startup = startupOf(packet(asked, "user", "ann", ""), newestVersionOf({ version }));
      expect(startup).toMatchObject({ version: agreed, isTooNew });
    },
  );

  test("names the newest version of an old Postgres to a client of an unknown version", () => {
    const text = "unsupported frontend protocol 2.0: server supports 3.0 to 3.0";
    expect(errorOf(packet(0x2_0000, "user", "ann", ""), newestVersionOf({ version: "17.10" }))).toContain(
      text,
    );
  });

  test("withholds options of the protocol from the engine", () => {
    const startup = startupOf(packet(0x3_0000, "user", "ann", "_pq_.a", "1", "_pq_.b", "", ""));
    expect(startup.unknownOptions).toEqual(["_pq_.a", "_pq_.b"]);
    expect(startup.parameters).toEqual([["user", "ann"]]);
  });

  test.each([0, 0x2_0000, 0x4_0000, 0x2f_0000, 0xffff_ffff, 80_877_105])(
    "refuses the unknown protocol version %d",
    (version) => {
      const asked = `${version >>> 16}.${version & 0xffff}`;
      const text = `C0A000\0Munsupported frontend protocol ${asked}: server supports 3.0 to 3.2`;
      expect(errorOf(packet(version, "user", "ann", ""))).toContain(text);
    },
  );

  test.each([
    [packet(0x3_0000)],
    [packet(0x3_0000, "user", "ann")],
    [packet(0x3_0000, "user", "ann", "", "")],
    [packet(0x3_0000, "user", "")],
    [packet(0x3_0000, "user", "ann", "database", "")],
    [Buffer.concat([packet(0x3_0000, "user", "ann", ""), Buffer.from("x")])],
    [Buffer.concat([packet(0x3_0000), Buffer.from("user")])],
  ])("refuses a layout that does not end where it should: %p", (bytes) => {
    expect(errorOf(bytes)).toContain("C08P01\0");
  });

  test.each([
    [packet(0x3_0000, "")],
    [packet(0x3_0000, "user", "", "")],
    [packet(0x3_0000, "database", "main", "")],
  ])("wants to know who it is: %p", (bytes) => {
    expect(errorOf(bytes)).toContain("C28000\0Mno PostgreSQL user name specified in startup packet");
  });
});

describe("a request for a replication session", () => {
  const REFUSAL = `C53300\0Mnumber of requested standby connections exceeds "max_wal_senders" (currently 0)`;

  test.each(["true", "T", "database", "on", "1", "yes", "maybe", "o", "falsey", "00", " false", ""])(
    "of the value %j is refused",
    (value) => {
      expect(errorOf(packet(0x3_0000, "user", "ann", "replication", value, ""))).toContain(REFUSAL);
    },
  );

  test("is refused beside another value, and without a user", () => {
    for (const values of [
      ["true", "false"],
      ["false", "true"],
    ]) {
      const texts = values.flatMap((value) => ["replication", value]);
      expect(errorOf(packet(0x3_0000, "user", "ann", ...texts, ""))).toContain(REFUSAL);
      expect(errorOf(packet(0x3_0000, ...texts, ""))).toContain(REFUSAL);
    }
  });

  test.each(["false", "F", "fals", "off", "Of", "no", "n", "0"])("is absent with the value %j", (value) => {
    const startup = startupOf(packet(0x3_0000, "user", "ann", "replication", value, ""));
    expect(startup.parameters).toEqual([
      ["user", "ann"],
      ["replication", value],
    ]);
  });
});
