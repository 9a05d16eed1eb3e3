// The bound on the bytes of the resources in an answer: customers choose how large resources are, and how many an answer
// has.
import { invalid } from "./errors.ts";

/** More than an answer with usual resources has; it takes a part of a second to write. */
const MAX_BYTES = 32 * 1024 ** 2;

/**
 * The resources of a page.
 * @param resources rendered one after the other, up to the bound.
 * @throws ApiError 422 on `per_page` beyond the bound.
 */
export function boundedPage<Resource>(resources: Iterable<Resource>): Resource[] {
  const taken: Resource[] = [];
  let bytes = 0;
  for (const resource of resources) {
    bytes += bytesOf(resource);
    if (bytes > MAX_BYTES)
      throw invalid({
        per_page: [`The resources of this page have more than ${SHOWN} together. Ask for fewer of them.`],
      });
    taken.push(resource);
  }
  return taken;
}

/**
 * The resources that an answer includes.
 * @param resources read and rendered one after the other, up to the bound.
 * @throws ApiError 422 on `include` beyond the bound.
 */
export async function boundedIncluded(
  resources: Iterable<object> | AsyncIterable<object>,
): Promise<object[]> {
  const taken: object[] = [];
  let bytes = 0;
  for await (const resource of resources) {
    bytes += bytesOf(resource);
    if (bytes > MAX_BYTES)
      throw invalid({
        include: [
          `The included resources have more than ${SHOWN} together. Ask for fewer resources with \`per_page\`, or leave \`include\` out and read them by themselves.`,
        ],
      });
    taken.push(resource);
  }
  return taken;
}

const SHOWN = `${MAX_BYTES / 1024 ** 2} MiB`;

function bytesOf(resource: unknown): number {
  return Buffer.byteLength(JSON.stringify(resource));
}
