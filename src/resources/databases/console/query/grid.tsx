// The rows of a result: only visible cells are in the page, and the arrow keys lead from cell to cell.
import { useVirtualizer, type Virtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, type MouseEvent, type RefObject, useId, useMemo, useRef, useState } from "react";
import type { QueryDocument } from "../../../../sdk/index.ts";

const ROW_PIXELS = 28;
const CHARACTER_PIXELS = 7.3;
const PADDING_PIXELS = 20;
const MIN_CHARACTERS = 4;
const MAX_CHARACTERS = 44;
/** Rows that decide how wide columns are. */
const MEASURED_ROWS = 100;

type Result = QueryDocument["data"];

/** A cell by its row and column, from 0. */
export interface Place {
  row: number;
  column: number;
}

const MOVES: Record<string, (place: Place, last: Place) => Place> = {
  ArrowUp: ({ row, column }) => ({ row: row - 1, column }),
  ArrowDown: ({ row, column }) => ({ row: row + 1, column }),
  ArrowLeft: ({ row, column }) => ({ row, column: column - 1 }),
  ArrowRight: ({ row, column }) => ({ row, column: column + 1 }),
  PageUp: ({ row, column }) => ({ row: row - 10, column }),
  PageDown: ({ row, column }) => ({ row: row + 10, column }),
  Home: ({ row }) => ({ row, column: 0 }),
  End: ({ row }, last) => ({ row, column: last.column }),
};

type Across = Virtualizer<HTMLDivElement, Element>;

export function ResultGrid({ result, onChoose }: { result: Result; onChoose: (place: Place) => void }) {
  const { columns, rows } = result;
  const scroller = useRef<HTMLDivElement>(null);
  const { down, across } = useVisible(result, scroller);
  const { active, move, choose } = useActive(result, { down, across }, onChoose);
  const id = useId();
  const click = (event: MouseEvent) => {
    choose(event);
    // A cell may leave the page while the grid scrolls.
    scroller.current?.focus();
  };
  return (
    <div
      ref={scroller}
      role="grid"
      tabIndex={0}
      aria-label="Result"
      aria-readonly
      aria-rowcount={rows.length + 1}
      aria-colcount={columns.length}
      aria-activedescendant={`${id}-${active.row}-${active.column}`}
      onKeyDown={move}
      onClick={click}
      className="max-h-[28rem] overflow-auto rounded-md border border-line bg-panel font-mono text-xs"
    >
      <div
        role="presentation"
        className="relative min-w-full"
        style={{ height: down.getTotalSize() + ROW_PIXELS, width: across.getTotalSize() }}
      >
        <Header columns={columns} across={across} />
        {down.getVirtualItems().map(({ index, start }) => (
          <Row key={index} {...{ index, start, id, across, active }} row={rows[index] ?? []} />
        ))}
      </div>
    </div>
  );
}

/** The rows and columns in sight. */
function useVisible(result: Result, scroller: RefObject<HTMLDivElement | null>) {
  const { columns, rows } = result;
  const widths = useMemo(() => columns.map((_, column) => widthOf(result, column)), [columns, result]);
  const getScrollElement = () => scroller.current;
  const down = useVirtualizer({
    count: rows.length,
    getScrollElement,
    estimateSize: () => ROW_PIXELS,
    overscan: 8,
  });
  const across = useVirtualizer({
    horizontal: true,
    count: columns.length,
    getScrollElement,
    estimateSize: (index) => widths[index] ?? 0,
    overscan: 3,
  });
  return { down, across };
}

/** The cell that the arrow keys have reached, and how it is left for another. */
function useActive(
  { rows, columns }: Result,
  { down, across }: { down: Across; across: Across },
  onChoose: (place: Place) => void,
) {
  const [active, setActive] = useState<Place>({ row: 0, column: 0 });
  const last = { row: rows.length - 1, column: columns.length - 1 };
  const move = (event: KeyboardEvent) => {
    if (event.key === "Enter") return onChoose(active);
    const wanted = MOVES[event.key]?.(active, last);
    if (wanted === undefined) return;
    event.preventDefault();
    const place = {
      row: Math.max(0, Math.min(wanted.row, last.row)),
      column: Math.max(0, Math.min(wanted.column, last.column)),
    };
    setActive(place);
    down.scrollToIndex(place.row);
    across.scrollToIndex(place.column);
  };
  const choose = ({ target }: MouseEvent) => {
    if (!(target instanceof Element)) return;
    const { row, column } = target.closest<HTMLElement>("[role=gridcell]")?.dataset ?? {};
    if (row === undefined || column === undefined) return;
    const place = { row: Number(row), column: Number(column) };
    setActive(place);
    onChoose(place);
  };
  return { active, move, choose };
}

function Row(props: {
  id: string;
  index: number;
  start: number;
  row: (string | null)[];
  across: Across;
  active: Place;
}) {
  const { id, index, start, row, across, active } = props;
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      className="absolute left-0 w-full border-b border-line"
      style={{ top: start + ROW_PIXELS, height: ROW_PIXELS }}
    >
      {across.getVirtualItems().map(({ index: column, start: left, size: width }) => (
        <Cell
          key={column}
          id={`${id}-${index}-${column}`}
          value={row[column] ?? null}
          place={{ row: index, column }}
          isActive={active.row === index && active.column === column}
          {...{ left, width }}
        />
      ))}
    </div>
  );
}

function Header({ columns, across }: { columns: Result["columns"]; across: Across }) {
  return (
    <div
      role="row"
      aria-rowindex={1}
      className="sticky top-0 z-10 w-full border-b border-line bg-sunken"
      style={{ height: ROW_PIXELS }}
    >
      {across.getVirtualItems().map(({ index, start, size }) => (
        <div
          key={index}
          role="columnheader"
          aria-colindex={index + 1}
          title={columns[index]?.type}
          className="absolute truncate px-2.5 py-1.5 font-semibold"
          style={{ left: start, width: size }}
        >
          {columns[index]?.name}
        </div>
      ))}
    </div>
  );
}

function Cell(props: {
  id: string;
  value: string | null;
  place: Place;
  isActive: boolean;
  left: number;
  width: number;
}) {
  const { id, value, place, isActive, left, width } = props;
  return (
    <div
      id={id}
      role="gridcell"
      aria-colindex={place.column + 1}
      aria-selected={isActive}
      tabIndex={-1}
      data-row={place.row}
      data-column={place.column}
      className={`absolute h-full truncate px-2.5 py-1.5 ${isActive ? "bg-tint" : ""}`}
      style={{ left, width }}
    >
      {value === null ? <span className="text-soft italic">NULL</span> : value.slice(0, MAX_CHARACTERS * 4)}
    </div>
  );
}

function widthOf({ columns, rows }: Result, column: number): number {
  const texts = rows.slice(0, MEASURED_ROWS).map((row) => row[column]?.length ?? MIN_CHARACTERS);
  const longest = Math.max(columns[column]?.name.length ?? 0, ...texts, MIN_CHARACTERS);
  return Math.ceil(Math.min(longest, MAX_CHARACTERS) * CHARACTER_PIXELS) + PADDING_PIXELS;
}
