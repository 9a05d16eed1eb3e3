// Which entries a query selects.
import type { EnvironmentLogQuery } from "../../../contracts/environment-logs.ts";
import type { StoredEntry } from "./entry.ts";
import { wholeWordTest } from "./whole-word.ts";

/** A function that says whether an entry is selected. */
export function selectionOf(query: EnvironmentLogQuery): (entry: StoredEntry) => boolean {
  const { types, instances, deployment, fromMs, toMs } = query;
  const hasText = textTest(query);
  return (entry) =>
    (fromMs === undefined || entry.t >= fromMs) &&
    (toMs === undefined || entry.t < toMs) &&
    (types === undefined || types.includes(entry.y)) &&
    (instances === undefined || (entry.i !== undefined && instances.includes(entry.i))) &&
    (deployment === undefined || entry.d === deployment) &&
    hasText(entry);
}

function textTest(query: EnvironmentLogQuery): (entry: StoredEntry) => boolean {
  const { text, isCaseSensitive = false, isWholeWord = false } = query;
  if (text === undefined || text === "") return () => true;
  const folded = (of: string) => (isCaseSensitive ? of : of.toLowerCase());
  const wanted = folded(text);
  const isIn = isWholeWord ? wholeWordTest(wanted) : (of: string) => of.includes(wanted);
  return ({ m, x }) => {
    const texts = x === undefined ? [m] : [m, JSON.stringify(Object.values(x))];
    return texts.map(folded).some(isIn);
  };
}
