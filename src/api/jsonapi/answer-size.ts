// The bound on the bytes of the resources in an answer: customers choose how large resources are, and how many an answer
// has.
import { invalid } from "./errors.ts";

/** More than an answer with usual resources has; it takes a part of a second to write. */
const MAX_BYTES = 32 * 1024 ** 2;

const SHOWN = `${MAX_BYTES / 1024 ** 2} MiB`;

const PAGE_REFUSAL = {
  per_page: [`The resources of this page have more than ${SHOWN} together. Ask for fewer of them.`],
};

const INCLUDED_REFUSAL = {
  include: [
    `The included resources have more than ${SHOWN} together. Ask for fewer resources with \`per_page\`, or leave \`include\` out and read them by themselves.`,
  ],
};

/**
 * The resources of a page.
 * @param resources rendered one after the other, up to the bound.
 * @throws ApiError 422 on `per_page` beyond the bound.
 */
export function boundedPage<Resource>(resources: Iterable<Resource>): Resource[] {
  const taken = new Taken<Resource>(PAGE_REFUSAL);
  for (const resource of resources) taken.add(resource);
  return taken.resources;
}

/**
 * The resources that an answer includes.
 * @param resources read and rendered one after the other, up to the bound.
 * @throws ApiError 422 on `include` beyond the bound.
 */
export async function boundedIncluded(
  resources: Iterable<object> | AsyncIterable<object>,
): Promise<object[]> {
  const taken = new Taken<object>(INCLUDED_REFUSAL);
  for await (const resource of resources) taken.add(resource);
  return taken.resources;
}

/** Resources within the bound. */
class Taken<Resource> {
  readonly resources: Resource[] = [];
  readonly #refusal: Record<string, string[]>;
  #bytes = 0;

  constructor(refusal: Record<string, string[]>) {
    this.#refusal = refusal;
  }

  /** @throws ApiError 422 beyond the bound. */
  add(resource: Resource): void {
    this.#bytes += Buffer.byteLength(JSON.stringify(resource));
    if (this.#bytes > MAX_BYTES) throw invalid(this.#refusal);
    this.resources.push(resource);
  }
}
