// What happened before and after the chosen instant, each with a way to choose the instant just before it.
import { Fragment } from "react";
import { Button } from "../button.tsx";
import { EVENT_DOTS } from "../events-table.tsx";
import { around, type Happening } from "./happenings.ts";
import { type Micros, textOf } from "./instants.ts";

/** A request is recorded a moment before it takes effect. */
const JUST_BEFORE: Micros = 1_000;

interface ListProps {
  happenings: readonly Happening[];
  /** Whether nothing of the time in sight is missing. */
  isWhole: boolean;
  /** Whether the whole window is in sight. */
  isAll: boolean;
  at: Micros;
  onChoose: (at: Micros) => void;
}

export function HappeningList({ happenings, isWhole, isAll, at, onChoose }: ListProps) {
  const { after, before } = around(happenings, at);
  const groups = [
    { title: "After it: not in the restored data", items: after },
    { title: "Before it", items: before },
  ];
  return (
    <div className="mt-4">
      <h3 className="m-0 mb-1 text-sm font-semibold">What happened around this instant</h3>
      {happenings.length === 0 && (
        <p className="m-0 text-sm text-soft">
          Nothing was recorded in this time.{!isAll && " A longer line shows more."}
        </p>
      )}
      {groups.map(({ title, items }) => (
        <Fragment key={title}>
          {items.length > 0 && <p className="mt-2 mb-0 text-xs text-soft">{title}</p>}
          <ol aria-label={title} className="m-0 list-none p-0">
            {items.map((happening) => (
              <Line key={happening.id} happening={happening} onChoose={onChoose} />
            ))}
          </ol>
        </Fragment>
      ))}
      {!isWhole && (
        <p className="mt-2 mb-0 text-xs text-soft">
          More has happened than is shown here. A shorter line shows all of it.
        </p>
      )}
    </div>
  );
}

function Line({
  happening: { at, type, text },
  onChoose,
}: { happening: Happening } & Pick<ListProps, "onChoose">) {
  return (
    <li className="flex flex-wrap items-center gap-x-2.5 border-b border-line py-1">
      <span aria-hidden className={`size-1.5 shrink-0 rounded-full ${EVENT_DOTS[type] ?? "bg-rest"}`} />
      <span className="min-w-0 grow basis-48 break-words">{text}</span>
      <span className="font-mono text-xs text-soft">{textOf(at).slice(0, 23)}</span>
      <Button
        look="ghost"
        aria-label={`Choose the instant just before: ${text}`}
        onClick={() => onChoose(at - JUST_BEFORE)}
      >
        Just before
      </Button>
    </li>
  );
}
