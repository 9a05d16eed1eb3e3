// A figure of each day of a month as bars, and as a table.
import type { UsageDayDocument } from "../../../sdk/index.ts";
import { type Figure, figureText } from "./figures.ts";
import { dayText, daysOf } from "./months.ts";

const HEIGHT_PX = 150;
/** Every so many days the axis has a number. */
const LABEL_DAYS = 5;
const COLORS = ["bg-accent", "bg-rest/35"] as const;

interface BarsProps {
  month: string;
  days: readonly UsageDayDocument[];
  figure: Figure;
  chosen: string | undefined;
  /** Undefined for the whole month. */
  onChoose: (day: string | undefined) => void;
}

interface Bar {
  day: string;
  values: number[];
}

export function DayBars({ month, days, figure, chosen, onChoose }: BarsProps) {
  const known = new Map(days.map((each) => [each.day, each]));
  const bars = daysOf(month).map((day): Bar => {
    const amounts = known.get(day);
    return { day, values: figure.parts.map(({ of }) => (amounts === undefined ? 0 : of(amounts))) };
  });
  const highest = Math.max(...bars.map(({ values }) => sumOf(values)));
  return (
    <>
      <Legend figure={figure} />
      <div
        role="img"
        aria-label={`${figure.label} by day: ${figureText(figure, highest)} on the highest day.`}
      >
        <p aria-hidden className="m-0 border-b border-line pb-0.5 text-xs text-soft tabular-nums">
          {figureText(figure, highest)}
        </p>
        <div aria-hidden className="flex items-end border-b border-edge" style={{ height: HEIGHT_PX }}>
          {bars.map((bar) => (
            <Column
              key={bar.day}
              {...{ bar, highest, figure }}
              isFaded={chosen !== undefined && chosen !== bar.day}
              onClick={() => onChoose(chosen === bar.day ? undefined : bar.day)}
            />
          ))}
        </div>
        <div aria-hidden className="flex text-xs text-soft tabular-nums">
          {bars.map(({ day }, index) => (
            <span key={day} className="min-w-0 grow basis-0 text-center">
              {index === 0 || (index + 1) % LABEL_DAYS === 0 ? index + 1 : ""}
            </span>
          ))}
        </div>
      </div>
      <DayTable {...{ bars, figure, chosen, onChoose }} />
    </>
  );
}

function Legend({ figure: { parts } }: { figure: Figure }) {
  if (parts.length < 2) return null;
  return (
    <ul className="m-0 mb-2 flex list-none flex-wrap gap-x-4 p-0 text-xs">
      {parts.map(({ name }, index) => (
        <li key={name} className="flex items-center gap-1.5">
          <span aria-hidden className={`size-3 rounded-sm ${COLORS[index]}`} />
          {name}
        </li>
      ))}
    </ul>
  );
}

function Column(props: { bar: Bar; highest: number; figure: Figure; isFaded: boolean; onClick: () => void }) {
  const { bar, highest, figure, isFaded, onClick } = props;
  const { day, values } = bar;
  return (
    // The table below has the same choice for the keyboard.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-static-element-interactions
    <div
      data-day={day}
      title={`${dayText(day)}: ${wordsOf(bar, figure)}`}
      onClick={onClick}
      className={`flex h-full min-w-0 grow basis-0 cursor-pointer flex-col-reverse px-px hover:bg-hover ${isFaded ? "opacity-40" : ""}`}
    >
      {values.map((value, index) => (
        <div
          key={figure.parts[index]?.name}
          className={COLORS[index] ?? ""}
          style={{ height: highest === 0 ? 0 : (value / highest) * HEIGHT_PX }}
        />
      ))}
    </div>
  );
}

const CELL = "border-b border-line py-1 pl-4 text-right tabular-nums";

function DayTable(props: { bars: readonly Bar[] } & Pick<BarsProps, "figure" | "chosen" | "onChoose">) {
  const { bars, figure, chosen, onChoose } = props;
  return (
    <details className="mt-2">
      <summary className="cursor-pointer text-sm text-soft">Days as a table</summary>
      <table className="mt-2 w-full max-w-xl border-collapse text-sm">
        <thead>
          <tr>
            <th scope="col" className="border-b border-line py-1 text-left font-medium">
              Day
            </th>
            {figure.parts.map(({ name }) => (
              <th key={name} scope="col" className={`${CELL} font-medium`}>
                {figure.unit} {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {bars.map(({ day, values }) => (
            <tr key={day}>
              <th scope="row" className="border-b border-line py-1 text-left font-normal">
                <button
                  type="button"
                  aria-pressed={day === chosen}
                  onClick={() => onChoose(day === chosen ? undefined : day)}
                  className="link min-h-6 aria-pressed:font-semibold"
                >
                  {dayText(day)}
                </button>
              </th>
              {figure.parts.map(({ name }, index) => (
                <td key={name} className={CELL}>
                  {figureText({ ...figure, unit: "" }, values[index] ?? 0)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

function wordsOf({ values }: Bar, figure: Figure): string {
  return figure.parts
    .map(({ name }, index) => `${figureText(figure, values[index] ?? 0)} ${name}`)
    .join(", ");
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
