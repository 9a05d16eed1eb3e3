// Times of charts, in the time zone and the language of the reader.
const DAY_SECONDS = 86_400;

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** The label of an axis at a time. @param at in seconds since 1970. @param step the distance of the labels in seconds. */
export function axisText(at: number, step: number): string {
  const date = new Date(at * 1000);
  const isMidnight = date.getHours() === 0 && date.getMinutes() === 0;
  return step >= DAY_SECONDS || isMidnight ? day.format(date) : clock.format(date);
}

/** A time in full, such as `15 Mar 2026, 08:18`. @param at in seconds since 1970. */
export function momentText(at: number): string {
  return moment.format(new Date(at * 1000));
}

/** The time zone of the reader, such as `Europe/Helsinki`. */
export const timeZone = moment.resolvedOptions().timeZone;
