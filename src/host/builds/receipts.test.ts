// Orders of the same build that come while its source is still being kept.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ApplicationHost, buildSpec } from "../../../tests/support/applications/host.ts";
import { until } from "../../../tests/support/pilvi/pilvi.ts";
import { BusyError } from "../../lib/errors.ts";
import { MAX_QUEUED } from "./host-builds.ts";

let host: ApplicationHost;

beforeAll(async () => {
  host = new ApplicationHost({ buildsAtOnce: 0 });
  await host.start();
});

afterAll(() => host.close());

/** The body of an order whose source goes on until it is ended. */
function order(id: string): { body: ReadableStream<Uint8Array>; end(): void; breakOff(): void } {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  void writer
    .write(new TextEncoder().encode(`${JSON.stringify(buildSpec({ id }))}\n`))
    .catch(() => undefined);
  return {
    body: readable,
    end: () => void writer.close().catch(() => undefined),
    breakOff: () => void writer.abort(new Error("the control plane has ended")).catch(() => undefined),
  };
}

/** Resolves when the host keeps the source of a build. */
function begun(id: string): Promise<void> {
  return until("the source is being kept", () => existsSync(join(host.dataDir, "builds", id)));
}

test("an order that comes while its source is still being kept gets the same build", async () => {
  const first = order("depl-twice");
  const taken = host.host.builds.order(first.body);
  await begun("depl-twice");
  const again = host.host.builds.order(order("depl-twice").body);
  first.end();
  expect(await again).toEqual(await taken);
  expect(await taken).toMatchObject({ id: "depl-twice", state: "queued" });
});

test("an order that comes after a broken order is taken in its place", async () => {
  const first = order("depl-broken");
  const broken = host.host.builds.order(first.body).catch((error: unknown) => error);
  await begun("depl-broken");
  const second = order("depl-broken");
  const taken = host.host.builds.order(second.body);
  first.breakOff();
  second.end();
  expect(await broken).toBeInstanceOf(Error);
  expect(await taken).toMatchObject({ state: "queued" });
});

test("a build is removed also while its source is still being kept", async () => {
  const first = order("depl-removed");
  const taken = host.host.builds.order(first.body);
  await begun("depl-removed");
  const removed = host.host.builds.remove("depl-removed");
  first.end();
  await Promise.all([taken, removed]);
  expect(host.host.builds.observe("depl-removed")).toBeNull();
});

test("a host behind which too many builds wait has no room now", async () => {
  const orders = Array.from({ length: MAX_QUEUED }, (_, at) => host.order({ id: `depl-waits-${at}` }, {}));
  await Promise.all(orders);
  expect(await host.order({ id: "depl-late" }, {}).catch((error: unknown) => error)).toBeInstanceOf(
    BusyError,
  );
  expect(await host.order({ id: "depl-waits-0" }, {})).toMatchObject({ state: "queued" });
});
