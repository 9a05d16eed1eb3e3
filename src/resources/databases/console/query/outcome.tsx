// How a statement ended: its rows, or the words of the engine.
import { Copy } from "lucide-react";
import { useState } from "react";
import { Button } from "../../../../console/parts/button.tsx";
import { Code } from "../../../../console/parts/copy.tsx";
import { notify } from "../../../../console/parts/toasts.tsx";
import { PilviError, queryCsv, type QueryDocument } from "../../../../sdk/index.ts";
import { type Place, ResultGrid } from "./grid.tsx";

type Result = QueryDocument["data"];

export function QueryFault({ error }: { error: Error }) {
  const isCanceled = error.name === "AbortError";
  const engine = error instanceof PilviError ? error.engine : undefined;
  return (
    <div role="alert" className="rounded-md border border-bad bg-bad-tint px-3 py-2">
      <p className="m-0 font-medium break-words">
        {isCanceled ? "The statement was canceled." : error.message}
      </p>
      {engine && (
        <p className="mt-1 mb-0 text-sm break-words">
          {[
            `Code ${engine.code}`,
            engine.position === null ? "" : `at character ${engine.position}`,
            engine.detail ?? "",
            engine.hint ?? "",
          ]
            .filter((part) => part !== "")
            .join(" · ")}
        </p>
      )}
    </div>
  );
}

export function QueryOutcome({ result }: { result: Result }) {
  const [place, setPlace] = useState<Place>();
  const hasRows = result.rows.length > 0 && result.columns.length > 0;
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <p role="status" className="m-0 grow text-sm text-soft">
          {summaryOf(result)}
        </p>
        {hasRows && <CopyCsv result={result} />}
      </div>
      {result.notices.length > 0 && (
        <p className="m-0 text-sm break-words whitespace-pre-line">
          {result.notices.map(({ severity, message }) => `${severity}: ${message}`).join("\n")}
        </p>
      )}
      {hasRows && <ResultGrid result={result} onChoose={setPlace} />}
      {hasRows && (
        <p className="m-0 text-xs text-soft">
          Arrow keys lead from cell to cell; Enter or a click shows the whole value.
        </p>
      )}
      {place && <ChosenValue result={result} place={place} />}
    </div>
  );
}

function ChosenValue({ result, place: { row, column } }: { result: Result; place: Place }) {
  const { name = "", type = "" } = result.columns[column] ?? {};
  const cut = result.cut_cells.find((each) => each.row === row && each.column === column);
  return (
    <div className="flex flex-col gap-1">
      <p className="m-0 text-sm">
        <span className="font-medium">{name}</span> <span className="text-soft">{type}</span>
        {cut && (
          <span className="text-work">
            {" "}
            · only the beginning of {cut.bytes ?? "an unknown number of"} bytes
          </span>
        )}
      </p>
      <Code text={result.rows[row]?.[column] ?? "NULL"} label={`value of ${name}`} />
    </div>
  );
}

function CopyCsv({ result }: { result: Result }) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(queryCsv(result));
      notify({ title: "The rows are copied as CSV." });
    } catch {
      notify({ title: "The browser did not allow copying the rows.", isError: true });
    }
  };
  return (
    <Button onClick={() => void copy()}>
      <Copy size={14} aria-hidden />
      Copy as CSV
    </Button>
  );
}

function summaryOf(result: Result): string {
  const { command, rows, row_count: count, duration_ms: ms, truncated, cut_cells: cut } = result;
  const shown = truncated ? `the first ${rowsText(rows.length)}` : rowsText(count ?? rows.length);
  const long =
    cut.length === 0 ? "" : `${cut.length} long ${cut.length === 1 ? "value is" : "values are"} cut`;
  return [command ?? "Done", shown, `${ms} ms`, long].filter((part) => part !== "").join(" · ");
}

function rowsText(count: number): string {
  return count === 1 ? "1 row" : `${count} rows`;
}
