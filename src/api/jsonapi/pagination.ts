// Lists in pages: the query members of a client, and the links and figures of the answer.
import { z } from "zod";

const MAX_PER_PAGE = 100;

/** The highest page number; far beyond any list, and small enough for the store to count with. */
const MAX_PAGE = 2_147_483_647;

/** The number of linked pages on each side of the present page. */
const NEIGHBOURS = 3;

/** A whole number in the query, read strictly. */
function wholeNumber(max: number) {
  const message = `must be a whole number from 1 to ${max}`;
  return z
    .string()
    .regex(/^\d{1,10}$/, message)
    .transform(Number)
    .refine((value) => value >= 1 && value <= max, message)
    .optional();
}

/** A whole number from 1 as a member of a query; undefined when it is left out. */
export function wholeNumberQuery(max: number, description: string, example: number) {
  return wholeNumber(max).meta({
    description,
    example,
    override: { type: "integer", minimum: 1, maximum: max, pattern: undefined },
  });
}

/** The query members for the size of a page. */
export const pageSizeQuery = {
  per_page: wholeNumberQuery(MAX_PER_PAGE, "How many resources a page has at most; 100 when left out.", 100),
  "page[size]": wholeNumberQuery(MAX_PER_PAGE, "The same as `per_page`.", 100),
};

/** The query members of every list with numbered pages. */
export const pageQuery = {
  page: wholeNumberQuery(MAX_PAGE, "The number of the page, from 1.", 1),
  "page[number]": wholeNumberQuery(MAX_PAGE, "The same as `page`.", 1),
  ...pageSizeQuery,
};

export interface Page {
  number: number;
  size: number;
}

/** The page that a validated query asks for. */
export function pageOf(query: {
  page?: number | undefined;
  "page[number]"?: number | undefined;
  per_page?: number | undefined;
  "page[size]"?: number | undefined;
}): Page {
  return {
    number: query.page ?? query["page[number]"] ?? 1,
    size: query.per_page ?? query["page[size]"] ?? MAX_PER_PAGE,
  };
}

/**
 * The answer with one page of resources.
 * @param url the URL of the request; its other parameters are kept in the links.
 * @param total the number of resources on all pages.
 */
export function pageDocument<Resource>(url: URL, page: Page, total: number, data: Resource[]) {
  const last = Math.max(1, Math.ceil(total / page.size));
  const link = (number: number) => linkTo(url, number);
  const prev = page.number > 1 ? link(Math.min(page.number - 1, last)) : undefined;
  const next = page.number < last ? link(page.number + 1) : undefined;
  const from = data.length === 0 ? null : (page.number - 1) * page.size + 1;
  return {
    data,
    links: { first: link(1), last: link(last), ...(prev && { prev }), ...(next && { next }) },
    meta: {
      current_page: page.number,
      from,
      last_page: last,
      links: [
        { url: prev ?? null, label: "Previous", active: false },
        ...numberLinks(page.number, last, link),
        { url: next ?? null, label: "Next", active: false },
      ],
      path: url.origin + url.pathname,
      per_page: page.size,
      to: from === null ? null : from + data.length - 1,
      total,
    },
  };
}

/** Links to the first page, the last page, and the pages around the present one; gaps have no address. */
function numberLinks(current: number, last: number, link: (number: number) => string) {
  const around = Math.min(current, last);
  const shown = new Set([1, last]);
  for (let n = Math.max(1, around - NEIGHBOURS); n <= Math.min(last, around + NEIGHBOURS); n++) shown.add(n);
  const links: { url: string | null; label: string; active: boolean }[] = [];
  let former = 0;
  for (const number of [...shown].sort((a, b) => a - b)) {
    if (number > former + 1) links.push({ url: null, label: "...", active: false });
    links.push({ url: link(number), label: String(number), active: number === current });
    former = number;
  }
  return links;
}

function linkTo(url: URL, number: number): string {
  const copy = new URL(url);
  copy.searchParams.delete("page[number]");
  copy.searchParams.set("page", String(number));
  return copy.href;
}
