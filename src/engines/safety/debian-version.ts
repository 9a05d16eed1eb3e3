// Orders versions of Debian packages as dpkg does. Debian patches in place: 7.0.15-1~deb12u10 is newer than
// 7.0.15-1~deb12u9.

/** Orders two versions of a package: negative when `a` is older. A `~` is older than nothing at all. */
export function compareDebianVersions(a: string, b: string): number {
  const [left, right] = [partsOf(a), partsOf(b)];
  return (
    left.epoch - right.epoch ||
    comparePart(left.upstream, right.upstream) ||
    comparePart(left.revision, right.revision)
  );
}

/** `EPOCH:UPSTREAM-REVISION`, in which only the middle is always present. */
function partsOf(version: string): { epoch: number; upstream: string; revision: string } {
  const [, epoch = "0", rest = ""] = /^(?:(\d+):)?(.*)$/s.exec(version) ?? [];
  const dash = rest.lastIndexOf("-");
  if (dash < 0) return { epoch: Number(epoch), upstream: rest, revision: "" };
  return { epoch: Number(epoch), upstream: rest.slice(0, dash), revision: rest.slice(dash + 1) };
}

/** A word and the number after it; either may be empty. */
const RUNS = /(\D*)(\d*)/g;

/** Compares words and numbers in turns, from the left. */
function comparePart(a: string, b: string): number {
  const [left, right] = [Array.from(a.matchAll(RUNS)), Array.from(b.matchAll(RUNS))];
  for (let place = 0; place < Math.max(left.length, right.length); place += 1) {
    const [, word = "", number = ""] = left[place] ?? [];
    const [, otherWord = "", otherNumber = ""] = right[place] ?? [];
    const difference = compareWords(word, otherWord) || Number(number) - Number(otherNumber);
    if (difference !== 0) return difference;
  }
  return 0;
}

function compareWords(a: string, b: string): number {
  for (let place = 0; place < Math.max(a.length, b.length); place += 1) {
    const difference = weightOf(a[place]) - weightOf(b[place]);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** A tilde comes before the end, the end before letters, letters before all else. */
function weightOf(character: string | undefined): number {
  if (character === undefined) return 0;
  if (character === "~") return -1;
  const isLetter = /[A-Za-z]/.test(character);
  return character.charCodeAt(0) + (isLetter ? 0 : 256);
}
