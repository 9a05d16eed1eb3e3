// The usage as a table in CSV (RFC 4180), which a spreadsheet opens without running anything in it.

/** A cell that begins like this is a formula to a spreadsheet. */
const FORMULA = /^[=+\-@\t\r]/;

/** A row with its line end. Texts that a spreadsheet would run get an apostrophe in front; null is an empty cell. */
export function csvRow(cells: readonly (string | number | boolean | null)[]): string {
  return `${cells.map(cellOf).join(",")}\r\n`;
}

function cellOf(value: string | number | boolean | null): string {
  if (typeof value !== "string") return value === null ? "" : String(value);
  const safe = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** The text of a table as a stream that makes a part only when the client has taken the one before. */
export function csvStream(parts: AsyncGenerator<string, void>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { value, done } = await parts.next();
        if (done === true) controller.close();
        else controller.enqueue(encoder.encode(value));
      },
      async cancel() {
        await parts.return();
      },
    },
    { highWaterMark: 0 },
  );
}
