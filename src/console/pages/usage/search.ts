// What the address of the usage page holds.
import type { UsageFilter } from "../../../sdk/index.ts";
import { type RawSearch, textIn } from "../../parts/page.tsx";
import { type FigureName, FIGURE_NAMES } from "./figures.ts";

type Kind = NonNullable<UsageFilter["kind"]>[number];

/** The kinds whose usage is counted. */
export const USAGE_KINDS = ["databases", "caches", "websockets"] as const satisfies Kind[];

export interface UsageSearch {
  /** Such as `2026-11`; the present month when left out. */
  month: string | undefined;
  kind: Kind | undefined;
  /** The id of the only resource that is shown. */
  resource: string | undefined;
  /** Such as `2026-11-23`: the only day that the table of resources counts. */
  day: string | undefined;
  figure: FigureName | undefined;
}

export function parseUsageSearch(raw: RawSearch): UsageSearch {
  const month = matching(textIn(raw, "month"), /^20\d\d-(?:0[1-9]|1[0-2])$/);
  const day = matching(textIn(raw, "day"), /^20\d\d-\d\d-\d\d$/);
  return {
    month,
    kind: USAGE_KINDS.find((kind) => kind === textIn(raw, "kind")),
    resource: matching(textIn(raw, "resource"), /^[A-Za-z0-9-]{1,64}$/),
    day: month === undefined || day?.startsWith(`${month}-`) === true ? day : undefined,
    figure: FIGURE_NAMES.find((figure) => figure === textIn(raw, "figure")),
  };
}

function matching(text: string | undefined, pattern: RegExp): string | undefined {
  return text !== undefined && pattern.test(text) ? text : undefined;
}
