// Moments in the time zone of the reader.
import { useEffect, useState } from "react";

const full = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });

const UNITS: [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];
const REFRESH_MS = 30_000;

/** A moment such as `5 minutes ago`; the exact time stands in its tooltip. */
export function Ago({ at }: { at: string }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), REFRESH_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <time dateTime={at} title={full.format(new Date(at))}>
      {agoText(Date.parse(at), now)}
    </time>
  );
}

/** A moment with its date and time. */
export function Moment({ at }: { at: string }) {
  return <time dateTime={at}>{full.format(new Date(at))}</time>;
}

function agoText(at: number, now: number): string {
  const seconds = Math.round((at - now) / 1000);
  const [unit, size] = UNITS.find((each) => Math.abs(seconds) >= each[1]) ?? ["second", 1];
  // Clocks differ a little, and nothing has happened in the future.
  if (unit === "second" && Math.abs(seconds) < 10) return "just now";
  return relative.format(Math.round(seconds / size), unit);
}
