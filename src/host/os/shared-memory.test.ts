// The shared memory of an ended engine's user is freed, whatever the user and others have put beside it.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import {
  chownSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../../tests/support/pilvi/ports.ts";
import { IS_ROOT } from "../../../tests/support/pilvi/program.ts";
import { uidOfPort } from "./accounts.ts";
import { freeSharedMemory } from "./shared-memory.ts";

/** Users without processes: no other Pilvi of the machine has an instance at these ports. */
const [UID, OTHER_UID] = [uidOfPort(freePort()), uidOfPort(freePort())];

const place = join("/dev/shm", `pilvi-test-${randomUUID()}`);
const [file, folder, link] = [`${place}-file`, `${place}-folder`, `${place}-link`];
/** A name that is no text, and too long when it is made one. */
const bytes = Buffer.concat([Buffer.from(place), Buffer.alloc(200, 0xff)]);

let data: string;

beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), "pilvi-shared-memory-"));
  chownSync(data, UID, UID);
});

afterEach(() => {
  for (const path of [data, file, folder, `${place}-own`, link])
    rmSync(path, { recursive: true, force: true });
  if (isThere(bytes)) unlinkSync(bytes);
});

function isThere(path: string | Buffer): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

test.skipIf(!IS_ROOT)(
  "the memory of the user is freed beside a link of another that leads nowhere",
  async () => {
    writeFileSync(file, "memory");
    chownSync(file, UID, UID);
    symlinkSync(link, link);
    lchownSync(link, OTHER_UID, OTHER_UID);
    await freeSharedMemory({ data });
    expect([isThere(file), isThere(link)]).toEqual([false, true]);
  },
);

test.skipIf(!IS_ROOT)(
  "files with any name and folders of the user are freed, without the files of others",
  async () => {
    const [own, deep, foreign] = [`${place}-own`, join(folder, "deep"), join(folder, "foreign")];
    mkdirSync(own);
    mkdirSync(deep, { recursive: true });
    for (const path of [bytes, join(own, "file"), join(deep, "file"), foreign]) writeFileSync(path, "memory");
    for (const path of [bytes, own, join(own, "file"), folder, deep, join(deep, "file")])
      chownSync(path, UID, UID);
    await freeSharedMemory({ data });
    expect([bytes, own, deep, foreign].map(isThere)).toEqual([false, false, false, true]);
  },
);
