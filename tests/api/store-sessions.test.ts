// The sessions of a control plane at its store.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { startApi, type TestApi } from "../support/api/api.ts";

let api: TestApi;
beforeAll(async () => (api = await startApi()));
afterAll(async () => await api.stop());

test("a control plane that is stopped in the middle of a transaction loses it soon", async () => {
  const rows = await api.db<{ timeout: string }[]>`
    select current_setting('idle_in_transaction_session_timeout') as timeout`;
  expect(rows.map(({ timeout }) => timeout)).toEqual(["10s"]);
});
