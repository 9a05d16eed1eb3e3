// Following a build: what is new, and the end, come without looking again and again.
import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import { ApplicationHost } from "../../../tests/support/applications/host.ts";

/** Longer than any test. */
const WAIT_MS = 600_000;

let host: ApplicationHost;
/** A host whose builds wait for ever. */
let paused: ApplicationHost;

beforeAll(async () => {
  [host, paused] = [new ApplicationHost(), new ApplicationHost({ buildsAtOnce: 0 })];
  await Promise.all([host.start(), paused.start()]);
});

afterAll(async () => {
  await Promise.all([host.close(), paused.close()]);
});

const follow = async (
  { host: { builds } }: ApplicationHost,
  id: string,
  after: number,
  signal?: AbortSignal,
) => await builds.log(id, { after, waitMs: WAIT_MS }, signal ?? new AbortController().signal);

test("a follower gets new output and the end, and looks at the build only when something has come", async () => {
  const looks = spyOn(host.host.builds, "observe");
  const { id } = await host.order({ steps: [{ name: "build", command: "echo a; sleep 1; echo b" }] }, {});
  const texts: string[] = [];
  for (let after = 0, isEnd = false; !isEnd;) {
    const slice = await follow(host, id, after);
    texts.push(...slice.lines.map(({ text }) => text));
    ({ next: after, isEnd } = slice);
  }
  const count = looks.mock.calls.length;
  looks.mockRestore();
  expect(texts).toEqual(["a", "b"]);
  expect(count).toBeLessThan(10);
});

test("all who follow a waiting build get its end when it is cancelled or removed", async () => {
  const { builds } = paused.host;
  const [first, second] = [await paused.order({}, {}), await paused.order({}, {})];
  const followed = [first, first, second].map(async ({ id }) => await follow(paused, id, 0));
  await builds.cancel(first.id);
  await builds.remove(second.id);
  for (const slice of await Promise.all(followed)) expect(slice).toMatchObject({ lines: [], isEnd: true });
  await expect(follow(paused, second.id, 0)).rejects.toThrow("is not on this host");
});

test("a follower that goes, or that nothing comes for in time, is answered without an end", async () => {
  const { id } = await paused.order({}, {});
  const gone = new AbortController();
  const followed = [follow(paused, id, 0, gone.signal), follow(paused, id, 0, AbortSignal.abort())];
  gone.abort();
  const { signal } = new AbortController();
  followed.push(paused.host.builds.log(id, { after: 0, waitMs: 20 }, signal));
  for (const slice of await Promise.all(followed)) expect(slice).toMatchObject({ lines: [], isEnd: false });
});
