// A suspend whose host is not done at the deadline of the action. The host goes on with an order that it has.
import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import { UnreachableError } from "../../src/lib/errors.ts";
import { reconcileAction } from "../../src/resources/shared/actions/reconciler.ts";
import { beginAction, findAction } from "../../src/resources/shared/actions/store.ts";
import { startApi, type TestApi } from "../support/api/api.ts";
import { make, observed, SLEEPERS } from "../support/api/resources-api.ts";

const [CACHES] = SLEEPERS;

let api: TestApi;
/** The instances that the host was to suspend. */
const ordered: string[] = [];
/** Ends the time of the action under way. */
let passDeadline = () => {};
beforeAll(async () => {
  api = await startApi();
  // As the driver, whose question ends without an answer. The deadline passes once it has the order.
  api.host.driver.suspend = (id, signal) =>
    new Promise((_resolve, reject) => {
      ordered.push(id);
      signal?.addEventListener("abort", () => reject(new UnreachableError("The host does not answer.")));
      passDeadline();
    });
});
afterAll(() => api.stop());

/** What comes of an action whose deadline passes while its host is at work. */
async function lateAction(state: "running" | "draining" | "asleep", deadlineSeconds = 60) {
  const { id: resourceId } = await make(api, CACHES, CACHES.body);
  api.host.driver.observe = (id) => Promise.resolve(observed(id, state, {}));
  const action = { type: "suspend", resourceId, hostId: api.host.id, requestedBy: "test" } as const;
  const id = await api.db.begin((tx) => beginAction(tx, { ...action, deadlineSeconds }));
  const deadline = new AbortController();
  passDeadline = () => deadline.abort();
  const timeouts = spyOn(AbortSignal, "timeout").mockImplementation((ms) => {
    expect(ms).toBeWithin(0, deadlineSeconds * 1_000 + 1);
    return deadline.signal;
  });
  const run = reconcileAction(api.context)(id, new AbortController().signal);
  const { write } = await run.finally(() => timeouts.mockRestore());
  if (write !== undefined) await api.db.begin(write);
  return await findAction(api.db, id);
}

test.each(["running", "draining"] as const)(
  "an action that is late while its instance is %s says that the host goes on",
  async (state) => {
    expect(await lateAction(state)).toMatchObject({
      state: "failed",
      failure: "late",
      error: "It was not asleep in time. Its host goes on with it, so it may still fall asleep.",
    });
  },
);

test("an action whose instance sleeps at the deadline is done", async () => {
  expect(await lateAction("asleep")).toMatchObject({ state: "done", failure: null, error: null });
});

test("an action that is found after its deadline gives no order", async () => {
  ordered.length = 0;
  expect(await lateAction("running", 0)).toMatchObject({
    failure: "late",
    error: "It could not be put to sleep in time.",
  });
  expect(ordered).toEqual([]);
});
