// Searches for whole words in texts that customers choose.

const WORD = /[\p{L}\p{N}_]/u;

/** What is known of each UTF-16 code unit: whether it is of a word, or 0 before it was asked for. */
const known = new Uint8Array(0x1_0000);
const [OF_WORD, BESIDE_WORDS] = [1, 2];

/**
 * A function that says whether a text has these characters with none of a word before and after them. It takes time by
 * the length of the text alone, also where the characters overlap themselves again and again (Knuth, Morris, Pratt).
 */
export function wholeWordTest(wanted: string): (text: string) => boolean {
  const borders = bordersOf(wanted);
  return (text) => {
    const first = text.indexOf(wanted);
    if (first < 0) return false;
    let matched = 0;
    for (let at = first; at < text.length; at += 1) {
      matched = matchedWith(wanted, borders, matched, text[at]);
      if (matched < wanted.length) continue;
      if (!isOfWord(text, at - wanted.length) && !isOfWord(text, at + 1)) return true;
      matched = borders[matched - 1] ?? 0;
    }
    return false;
  };
}

/** Of each beginning of a text: how much of its end is also its beginning, without all of it. */
function bordersOf(text: string): number[] {
  const borders = [0];
  for (let at = 1; at < text.length; at += 1)
    borders.push(matchedWith(text, borders, borders[at - 1] ?? 0, text[at]));
  return borders;
}

/** How much of a text is matched with the next character. */
function matchedWith(
  wanted: string,
  borders: readonly number[],
  matched: number,
  next: string | undefined,
): number {
  let left = matched;
  while (left > 0 && wanted[left] !== next) left = borders[left - 1] ?? 0;
  return wanted[left] === next ? left + 1 : left;
}

function isOfWord(text: string, at: number): boolean {
  if (at < 0 || at >= text.length) return false;
  const code = text.charCodeAt(at);
  if (known[code] === 0) known[code] = WORD.test(text.charAt(at)) ? OF_WORD : BESIDE_WORDS;
  return known[code] === OF_WORD;
}
