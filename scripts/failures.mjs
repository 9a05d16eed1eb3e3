// Finds the failures in the output of a test runner, so that they can be shown again where a reader of a long log looks
// first.

/** Lines of a failure that are shown again; its beginning says less than its end. */
const MAX_LINES = 60;
/** A line of a log may quote a whole answer; the end of the output must still show several failures. */
const MAX_CHARACTERS = 240;

/** Output without the control characters of colours. */
export function withoutColors(output) {
  // oxlint-disable-next-line no-control-regex -- colours are control characters.
  return output.replaceAll(/\u001B\[[\d;]*m/g, "");
}

/**
 * Every failed test with the output since the test before it; the end of the output when no test reports the failure.
 */
export function failuresOf(output) {
  const failures = [];
  let lines = [];
  for (const line of withoutColors(output).split("\n")) {
    lines.push(line);
    if (/^\(fail\) |^✗ /.test(line)) failures.push(lastLines(lines));
    if (/^\((?:pass|fail)\) |^[✓✗] /.test(line)) lines = [];
  }
  return failures.length > 0 ? failures : [lastLines(lines)];
}

/** The first and the last line of a failure, which name its file and its test. */
export function titleOf(failure) {
  const lines = failure.split("\n");
  return [...new Set([lines[0], lines.at(-1)])].join(": ");
}

function lastLines(lines) {
  const short = lines.slice(-MAX_LINES).map((line) => line.slice(0, MAX_CHARACTERS));
  return short.join("\n").trim();
}
