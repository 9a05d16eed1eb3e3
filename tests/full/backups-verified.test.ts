// Verified restores of a cluster by a whole Pilvi: without being asked for, without waking it, and over a kill.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { verificationsDir } from "../../src/host/os/layout.ts";
import { createCluster, startDatabases, type ClusterDocument } from "../support/pilvi/databases.ts";
import { Failpoints, TOKEN, until, type TestPilvi } from "../support/pilvi/pilvi.ts";

/** The first backup of the store may take a minute. */
const TIMEOUT_MS = 110_000;
/** Both tests wait for two verified restores. */
const LIMIT_MS = 2 * TIMEOUT_MS + 60_000;

const failpoints = new Failpoints();
let pilvi: TestPilvi;
beforeAll(async () => {
  pilvi = await startDatabases({ ...failpoints.env, PILVI_BACKUP_VERIFICATION_SECONDS: "1" });
});
afterAll(async () => {
  failpoints.release();
  await pilvi.close();
  failpoints.close();
});

test(
  "a cluster that sleeps is verified again and again, and sleeps on",
  async () => {
    failpoints.arm("verification.made");
    const { id } = await createCluster(pilvi, { name: "verified", config: { retention_days: 1 } });
    const path = `/databases/clusters/${id}`;
    const read = async () => (await pilvi.api<ClusterDocument>("GET", path)).body.data.meta;

    // A killed control plane has kept nothing, so its successor has the same verified once more.
    process.kill(await failpoints.reached(), "SIGKILL");
    failpoints.release();
    const verifiedAt = async () => (await read().catch(() => null))?.backup?.verified_at ?? "";
    await until("a restore is verified", async () => (await verifiedAt()) !== "");
    expect((await read()).backup).toMatchObject({
      verified_restore_seconds: expect.any(Number),
      last_error: null,
    });

    await until("it sleeps", async () => {
      await pilvi.api("POST", `${path}/suspend`);
      return (await read()).sleep.state === "asleep";
    });
    const { wakes } = (await read()).sleep;
    const before = await verifiedAt();
    await until("another restore is verified", async () => (await verifiedAt()) > before);
    expect((await read()).sleep).toMatchObject({ state: "asleep", wakes });

    const { body } = await pilvi.api<{ data: { attributes: { details: object } }[] }>(
      "GET",
      `/events?filter[resource]=${id}&filter[type]=backup.verified`,
    );
    expect(body.data.length).toBeGreaterThanOrEqual(2);
    await pilvi.api("DELETE", `${path}?purge=true`);
    await until("it is gone", async () => (await pilvi.api("GET", path)).status === 404);
    await until("no copy is left", () => !existsSync(verificationsDir(pilvi.dataDir)));
  },
  LIMIT_MS,
);

/** A figure about the backups of Pilvi's own store. */
async function figureOfStore(name: string): Promise<number> {
  const line = new RegExp(`^pilvi_backup_${name}\\{kind="store",id="store"\\} (.+)$`, "m");
  const answer = await fetch(`${pilvi.url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } });
  return Number(line.exec(await answer.text())?.[1]);
}

test(
  "Pilvi's own store is restored for a check as well, and a fault is reported",
  async () => {
    await createCluster(pilvi, { name: "kept", config: { retention_days: 1 } });
    const isVerified = async () => (await figureOfStore("verified_timestamp_seconds")) > 0;
    await until("a restore is verified", isVerified, TIMEOUT_MS);
    expect(await figureOfStore("verification_faults")).toBe(0);
    expect((await pilvi.run("doctor")).stdout).toMatch(/ok +backups of Pilvi's own store were restored/);
    expect((await pilvi.run("backups")).stdout).toMatch(/^Pilvi's store .* ago +[\d.]+ s$/m);

    const backups = join(pilvi.dataDir, "backups", "archives", "store", "backups");
    for (const backup of readdirSync(backups)) {
      const part = join(backups, backup, "parts", "000000");
      const bytes = readFileSync(part);
      writeFileSync(part, bytes.fill(0, bytes.length - 32));
    }
    const isFaulty = async () => (await figureOfStore("verification_faults")) > 0;
    await until("a verified restore finds the fault", isFaulty, TIMEOUT_MS);
    expect((await pilvi.run("doctor")).stdout).toMatch(
      /warn +backups of Pilvi's own store: .* found a fault: /,
    );
    const found = "Pilvi's store: The latest verified restore found a fault: ";
    expect((await pilvi.run("backups")).stdout).toContain(found);
  },
  LIMIT_MS,
);
