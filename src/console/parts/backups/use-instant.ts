// The instant that is being chosen in a window, and the part of the window that is in sight.
import { useState } from "react";
import {
  DAY,
  HOUR,
  instantIn,
  type Micros,
  MINUTE,
  nearest,
  type Stretch,
  textOf,
  viewAround,
} from "./instants.ts";

/** The chosen instant, and the text of its field. */
interface Chosen {
  /** Null for the latest instant, which moves on. */
  at: Micros | null;
  /** What is being written; null when the field shows the instant. */
  text: string | null;
}

/** An instant of a window, chosen on the line, by a shortcut or in words. */
export function useInstant(whole: Stretch) {
  const [chosen, setChosen] = useState<Chosen>({ at: null, text: null });
  const view = useView(whole);
  const at = nearest(whole, chosen.at ?? whole.until);
  const fault = faultOf(chosen, whole);
  return {
    ...view,
    at,
    /** What the field shows. */
    text: chosen.text ?? textOf(at),
    /** For screen readers; the latest instant moves on, which is not said each time. */
    spoken: chosen.at === null ? "" : `The instant is ${textOf(at)}.`,
    /** Why the text is no instant that can be restored. */
    fault,
    choose(next: Micros) {
      const instant = nearest(whole, next);
      setChosen({ at: instant, text: null });
      view.show(instant);
    },
    followLatest() {
      setChosen({ at: null, text: null });
      view.show(whole.until);
    },
    write(text: string) {
      const given = instantIn(text, nowMicros());
      setChosen({ at: given ?? chosen.at, text });
      if (given !== undefined) view.show(nearest(whole, given));
    },
    /** Shows the instant in the place of words for it. */
    endWriting() {
      if (fault === undefined) setChosen({ ...chosen, text: null });
    },
  };
}

export type ChosenInstant = ReturnType<typeof useInstant>;

/** The present moment, by the clock of the browser. */
export function nowMicros(): Micros {
  return Date.now() * 1_000;
}

function faultOf({ text }: Chosen, { from, until }: Stretch): string | undefined {
  if (text === null) return undefined;
  const given = instantIn(text, nowMicros());
  if (given === undefined) return "Write a time such as 2026-03-15 08:18:53, or “10 minutes ago”.";
  if (given >= from && given <= until) return undefined;
  return `Instants from ${textOf(from).slice(0, 19)} to ${textOf(until).slice(0, 19)} can be restored.`;
}

const LENGTHS = [
  { value: "10m", label: "10 minutes", length: 10 * MINUTE },
  { value: "1h", label: "1 hour", length: HOUR },
  { value: "1d", label: "1 day", length: DAY },
] as const;

type Length = (typeof LENGTHS)[number]["value"] | "all";

/** The part of the window that the line shows: all of it, or a length around an instant. */
function useView(whole: Stretch) {
  const [length, choose] = useState<Length>("all");
  const [middle, setMiddle] = useState(whole.until);
  const lengths = [
    ...LENGTHS.filter((each) => each.length < whole.until - whole.from),
    { value: "all" as const, label: "All", length: Infinity },
  ];
  const chosen = lengths.find(({ value }) => value === length) ?? { length: Infinity };
  const view = viewAround(whole, middle, chosen.length);
  return {
    view,
    lengths,
    length,
    setLength(next: Length, at: Micros) {
      choose(next);
      setMiddle(at);
    },
    /** Moves the view when an instant lies outside. */
    show(at: Micros) {
      if (at < view.from || at > view.until) setMiddle(at);
    },
  };
}
