// The cgroups of instances, by the kernel itself.
import { afterEach, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { EDGE_ID } from "../../contracts/edge-id.ts";
import type { Limits } from "../../contracts/observation.ts";
import { STORE_ID } from "../../contracts/store-id.ts";
import { findCgroups } from "./cgroup-backends.ts";
import { confine, dissolve, groupOf } from "./cgroup.ts";

const [ours, others] = ["/first", "/second"].map((dataDir) => findCgroups(dataDir));

afterEach(async () => {
  for (const id of [STORE_ID, EDGE_ID]) await dissolve(ours ?? null, id);
});

describe.skipIf(!ours || !others)("a machine with two Pilvis", () => {
  test.each([STORE_ID, EDGE_ID])(
    "keeps the group of the %s that is about to start when that of the other Pilvi ends",
    async (id) => {
      if (!ours || !others) throw new Error("this machine has no cgroups");
      const limits: Limits = { memoryBytes: 64 * 1024 ** 2, enforcedBy: ours.version };
      confine(ours, id, [], limits);
      await dissolve(others, id);
      expect(ours.folders(groupOf(ours, id)).filter((folder) => !existsSync(folder))).toEqual([]);
    },
  );
});
