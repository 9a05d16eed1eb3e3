// The stream of observations for the control plane.
import type { WatchLine } from "../contracts/host-answers.ts";
import type { Observation } from "../contracts/observation.ts";
import { Gathering } from "../lib/gathering.ts";
import type { Host } from "./host.ts";
import { WAKE_REPORT_DELAY_MS } from "./journal/host-journal.ts";

/** The number of observations after which other work of the host gets its turn. */
const OBSERVATIONS_AT_ONCE = 200;

/** What a watch follows of a host. */
type Watched = Pick<Host, "ids" | "restlessIds" | "observe" | "listen">;

/**
 * One JSON object a line: every observation, then all ids, then each change. The steps of a wake are one change. An
 * instance at rest that has not changed is not repeated, so that a host full of them has nothing to do.
 */
export function watchResponse(host: Watched, signal: AbortSignal, repeatMs: number): Response {
  const encoder = new TextEncoder();
  const changed = new Set<string>();
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const send = (line: WatchLine) => controller.enqueue(encoder.encode(`${JSON.stringify(line)}\n`));
      const sendEach = async (ids: Iterable<string>) => {
        let count = 0;
        // Each observation is of the moment when it is sent, so changes may come in between.
        for (const id of ids) {
          if (++count % OBSERVATIONS_AT_ONCE === 0) await Bun.sleep(0);
          if (signal.aborted) return;
          send({ type: "observation", observation: host.observe(id) });
        }
      };
      const sendAll = async () => {
        await sendEach(host.ids());
        if (!signal.aborted) send({ type: "synced", ids: host.ids() });
      };
      const repeat = async () => {
        const ids = new Set([...host.restlessIds(), ...changed]);
        changed.clear();
        await sendEach(ids);
      };
      const woken = new Gathering<string>(WAKE_REPORT_DELAY_MS, (ids) => void sendEach(ids));
      const stopListening = host.listen((observation) => {
        if (observation.state === "absent") changed.delete(observation.id);
        else changed.add(observation.id);
        if (isOfWake(observation, woken)) woken.add(observation.id);
        else send({ type: "observation", observation });
      });
      const timer = setInterval(() => void repeat(), repeatMs);
      signal.addEventListener("abort", () => {
        clearInterval(timer);
        woken.close();
        stopListening();
      });
      void sendAll();
    },
  });
  return new Response(body, { headers: { "content-type": "application/x-ndjson" } });
}

/** Whether an instance wakes, or runs after a wake that has not been reported. */
function isOfWake({ id, state, sleep }: Observation, unreported: Gathering<string>): boolean {
  return sleep?.state === "waking" || (state === "running" && unreported.has(id));
}
