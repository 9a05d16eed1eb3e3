// The port of the API at a start: waited for while a former process ends, and refused when it stays taken.
import { expect, spyOn, test } from "bun:test";
import { freePort } from "../../../tests/support/pilvi/ports.ts";
import { loadConfig } from "../../config.ts";
import { waitForPort } from "./port-refusal.ts";

function taken() {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: freePort(), socket: { data() {} } });
  const config = loadConfig({ PILVI_PORT: String(listener.port), PILVI_HOST: "127.0.0.1" });
  return { config, listener, [Symbol.dispose]: () => listener.stop(true) };
}

test("a port that a former process still has is waited for", async () => {
  using port = taken();
  const pauses = spyOn(Bun, "sleep");
  const waited = waitForPort(port.config, new AbortController().signal);
  expect(pauses).toHaveBeenCalledTimes(1);
  pauses.mockRestore();
  port.listener.stop(true);
  await waited;
});

test("a port that stays taken is refused, and at once after Ctrl-C", async () => {
  using port = taken();
  const sentence = `Port ${port.config.port} on 127.0.0.1 is in use. Stop what uses it, or set PILVI_PORT to another one.`;
  await expect(waitForPort(port.config, AbortSignal.abort())).rejects.toThrow(sentence);
  let nowMs = 0;
  const clock = spyOn(performance, "now").mockImplementation(() => (nowMs += 1_000));
  await expect(waitForPort(port.config, new AbortController().signal)).rejects.toThrow(sentence);
  clock.mockRestore();
});
