// `pilvi caches keys` speaks of its own options where the API speaks of its parameters.
import { afterEach, expect, test } from "bun:test";
import { closeServers, failureOf, one, serve } from "../test-server.ts";
import { fakeIo, runCommand } from "../test-support.ts";

afterEach(closeServers);

const id = "cache-0199f0a2-6c3e-7d5b-9a41-000000000001";
const message = "The cache sleeps. Ask with `wake=true` to wake it.";
const asleep = () => Response.json({ message }, { status: 409 });

test("a sleeping cache is named with the option that wakes it", async () => {
  const attributes = { name: "sessions" };
  const url = serve({
    [`GET /caches/${id}`]: one({ id, type: "caches", attributes }),
    [`GET /caches/${id}/keys`]: asleep,
    [`GET /caches/${id}/keys/user`]: asleep,
  });
  for (const rest of [[], ["user"]]) {
    expect(await failureOf(runCommand(fakeIo(), url, "caches", "keys", id, ...rest))).toEqual({
      text: "The cache sleeps. Ask with --wake to wake it.",
      exitCode: 1,
    });
  }
});
