// A tab without others follows the events by itself, over lost positions.
import { afterEach, expect, spyOn, test } from "bun:test";
import { followEvents } from "./event-stream.ts";

const spies: { mockRestore(): void }[] = [];

afterEach(() => {
  for (const spy of spies.splice(0)) spy.mockRestore();
  for (const name of ["document", "location"]) Reflect.deleteProperty(globalThis, name);
});

const position = (id: string) => `event: bookmark\nid: ${id}\ndata: {}\n\n`;
const event = (id: string) => `id: ${id}\ndata: {"id":"${id}"}\n\n`;
const gone = () => Response.json({ message: "It is not kept any more." }, { status: 410 });

/** Follows through these answers, up to the first event. @returns the states and the gaps until then. */
async function followed(...answers: (() => Response)[]): Promise<string[]> {
  Object.assign(globalThis, { document: new EventTarget(), location: { origin: "http://pilvi.example" } });
  let asked = 0;
  const answer = async () => answers[asked++]?.() ?? new Response(new ReadableStream());
  spies.push(spyOn(globalThis, "fetch").mockImplementation(answer as unknown as typeof fetch));
  const later = globalThis.setTimeout;
  // The pauses between attempts are over at once; the limit of a silent stream stays.
  const hurried = (run: () => void, ms = 0) => later(run, ms > 10_000 ? ms : 0);
  spies.push(spyOn(globalThis, "setTimeout").mockImplementation(hurried as unknown as typeof setTimeout));
  const seen: string[] = [];
  const end = new AbortController();
  await followEvents(
    "org-1",
    {
      onEvent: () => end.abort(),
      onState: (state) => seen.push(state),
      onGap: () => seen.push("gap"),
      onRefusal: () => end.abort(),
    },
    end.signal,
  );
  return seen;
}

test("a page that has just been read has missed nothing", async () => {
  expect(await followed(() => new Response(position("5") + event("6")))).toEqual(["connecting", "live"]);
});

test("the tab reads again when its position is not kept any more", async () => {
  const seen = await followed(
    () => new Response(position("5")),
    gone,
    () => new Response(position("9") + event("10")),
  );
  expect(seen).toEqual(["connecting", "live", "offline", "live", "gap"]);
});

test("the tab reads again when it could not follow from the beginning", async () => {
  const seen = await followed(
    () => new Response("", { status: 502 }),
    () => new Response(position("9") + event("10")),
  );
  expect(seen).toEqual(["connecting", "offline", "live", "gap"]);
});
