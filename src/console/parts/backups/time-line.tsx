// A line of time on which an instant is chosen: by a click, by dragging, or with the arrow keys.
import { type KeyboardEvent, type PointerEvent, useRef } from "react";
import { axisText } from "../charts/times.ts";
import { EVENT_DOTS } from "../events-table.tsx";
import type { Happening } from "./happenings.ts";
import {
  instantAfter,
  instantAt,
  type Micros,
  MINUTE,
  SECOND,
  shareOf,
  type Stretch,
  textOf,
  ticksOf,
} from "./instants.ts";

/** As many labels as a phone has room for. */
const TICKS = 5;
/** A label nearer to an end than this share would stand beyond the line. */
const END_SHARE = 0.06;

interface LineProps {
  /** All instants that can be chosen. */
  whole: Stretch;
  /** The part of them that is drawn. */
  view: Stretch;
  at: Micros;
  happenings: readonly Happening[];
  onChoose: (at: Micros) => void;
}

export function TimeLine({ whole, view, at, happenings, onChoose }: LineProps) {
  const line = useRef<HTMLDivElement>(null);
  const choose = ({ clientX, currentTarget }: PointerEvent) => {
    const { left, width } = currentTarget.getBoundingClientRect();
    onChoose(instantAt(view, (clientX - left) / width));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const next = instantAfter(event, at, whole);
    if (next === undefined) return;
    event.preventDefault();
    onChoose(next);
  };
  return (
    <div className="select-none">
      <div
        ref={line}
        role="slider"
        tabIndex={0}
        aria-label="Instant to restore. The arrow keys move it by a second, with Shift by a minute."
        aria-valuemin={Math.floor(whole.from / SECOND)}
        aria-valuemax={Math.ceil(whole.until / SECOND)}
        aria-valuenow={Math.round(at / SECOND)}
        aria-valuetext={textOf(at)}
        onKeyDown={onKeyDown}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          choose(event);
        }}
        onPointerMove={(event) => {
          if (event.currentTarget.hasPointerCapture(event.pointerId)) choose(event);
        }}
        className="relative h-14 cursor-pointer touch-pan-y rounded-md border border-edge bg-sunken"
      >
        <div
          className="absolute inset-y-0 left-0 rounded-[inherit] bg-tint"
          style={{ width: percent(shareOf(view, at)) }}
        />
        {happenings.map(({ id, at: moment, type }) => (
          <span
            key={id}
            aria-hidden
            className={`absolute bottom-0 h-5 w-0.5 -translate-x-1/2 ${EVENT_DOTS[type] ?? "bg-rest"}`}
            style={{ left: percent(shareOf(view, moment)) }}
          />
        ))}
        <Handle share={shareOf(view, at)} />
      </div>
      <Axis view={view} />
    </div>
  );
}

function Handle({ share }: { share: number }) {
  return (
    <span
      aria-hidden
      className="absolute inset-y-0 w-0.5 -translate-x-1/2 bg-accent"
      style={{ left: percent(share) }}
    >
      <span className="absolute top-1 left-1/2 size-3 -translate-x-1/2 rounded-full bg-accent" />
    </span>
  );
}

const seconds = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });

function Axis({ view }: { view: Stretch }) {
  const ticks = ticksOf(view, TICKS).filter(({ at }) => {
    const share = shareOf(view, at);
    return share > END_SHARE && share < 1 - END_SHARE;
  });
  return (
    <div aria-hidden className="relative h-5 text-xs text-soft">
      {ticks.map(({ at, step }) => (
        <span
          key={at}
          className="absolute top-1 -translate-x-1/2 whitespace-nowrap"
          style={{ left: percent(shareOf(view, at)) }}
        >
          {step < MINUTE ? seconds.format(new Date(at / 1_000)) : axisText(at / SECOND, step / SECOND)}
        </span>
      ))}
    </div>
  );
}

function percent(share: number): string {
  return `${Math.min(1, Math.max(0, share)) * 100}%`;
}
