// Which entries a query selects.
import type { EnvironmentLogQuery } from "../../../contracts/environment-logs.ts";
import type { StoredEntry } from "./entry.ts";

const WORD = /[\p{L}\p{N}_]/u;

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
  return ({ m, x }) => {
    const texts = x === undefined ? [m] : [m, JSON.stringify(Object.values(x))];
    return texts.map(folded).some((of) => (isWholeWord ? hasWord(of, wanted) : of.includes(wanted)));
  };
}

/** Whether a text has these characters with none of a word before and after them. */
function hasWord(text: string, wanted: string): boolean {
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) {
    const [before, after] = [text[at - 1] ?? " ", text[at + wanted.length] ?? " "];
    if (!WORD.test(before) && !WORD.test(after)) return true;
  }
  return false;
}
