// Finds the failures in the output of a test runner, so that they can be shown again where a reader of a long log looks
// first.

/** Lines of a failure that are shown again; its beginning says less than its end. */
const MAX_LINES = 60;

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

function lastLines(lines) {
  return lines.slice(-MAX_LINES).join("\n").trim();
}
