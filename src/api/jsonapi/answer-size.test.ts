// The bound on the resources in an answer: what is refused, and that nothing beyond the bound is rendered.
import { expect, test } from "bun:test";
import { boundedIncluded, boundedPage } from "./answer-size.ts";
import type { ApiError } from "./errors.ts";

const MIB = 1024 ** 2;

/** Resources that each have as many bytes, and how many of them were rendered. */
function resources(count: number, bytes: number) {
  const made = { count: 0, rendered: [] as object[] | Iterable<object> };
  made.rendered = Array.from({ length: count })
    .values()
    .map(() => {
      made.count += 1;
      return { text: "x".repeat(bytes) };
    });
  return made;
}

/** The fault that an answer has. */
async function faultOf(answer: () => unknown): Promise<[status: number, errors: unknown]> {
  const fault = await (async () => await answer())().then(
    () => undefined,
    (error: ApiError) => error,
  );
  return [fault?.status ?? 200, fault?.errors];
}

test("included resources are a 422 from 32 MiB on, and none beyond that is rendered", async () => {
  const many = resources(100, MIB);
  expect(await faultOf(() => boundedIncluded(many.rendered))).toEqual([
    422,
    {
      include: [expect.stringMatching(/more than 32 MiB together\. Ask for fewer resources with `per_page`/)],
    },
  ]);
  expect(many.count).toBe(32);
  expect(await boundedIncluded(resources(31, MIB).rendered)).toHaveLength(31);
});

test("resources of a page are a 422 from 32 MiB on, by their bytes", async () => {
  const many = resources(100, MIB);
  expect(await faultOf(() => boundedPage(many.rendered))).toEqual([
    422,
    { per_page: [expect.stringContaining("more than 32 MiB together")] },
  ]);
  expect(many.count).toBe(32);
  const escaped = ["\u{1}", "ü"].map((letter) => ({ text: letter.repeat(6 * MIB) }));
  expect(await faultOf(() => boundedPage(escaped))).toEqual([422, expect.anything()]);
  expect(boundedPage(resources(31, MIB).rendered)).toHaveLength(31);
});
