// The probe of a port, with real listeners on this machine.
import { expect, test } from "bun:test";
import { until } from "../../tests/support/pilvi/pilvi.ts";
import { isListening } from "./port-probe.ts";

test.each(["127.0.0.1", "::1"])(
  "a port at %s is listened at from the start to the stop of a listener",
  async (hostname) => {
    const listener = Bun.listen({ hostname, port: 0, socket: { data: () => undefined } });
    const { port } = listener;
    await until("the port answers", () => isListening(hostname, port));
    listener.stop(true);
    expect(isListening(hostname, port)).toBe(false);
  },
);
