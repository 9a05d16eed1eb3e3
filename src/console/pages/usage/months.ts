// Months of usage, which are those of UTC.

/** For so many months usage is kept. */
const KEPT_MONTHS = 25;

const monthName = new Intl.DateTimeFormat(undefined, { month: "long", year: "numeric", timeZone: "UTC" });
const dayName = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "long", timeZone: "UTC" });

/** The present month, such as `2026-11`. */
export function presentMonth(nowMs = Date.now()): string {
  return new Date(nowMs).toISOString().slice(0, 7);
}

/** The months of which usage is kept, the latest first. */
export function keptMonths(nowMs = Date.now()): string[] {
  const now = new Date(nowMs);
  return Array.from({ length: KEPT_MONTHS }, (_, ago) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - ago)).toISOString().slice(0, 7),
  );
}

/** `2026-11` is `November 2026`. */
export function monthText(month: string): string {
  return monthName.format(new Date(`${month}-01T00:00:00Z`));
}

/** The days of a month, such as `2026-11-23`. */
export function daysOf(month: string): string[] {
  const [year = 0, number = 1] = month.split("-").map(Number);
  const count = new Date(Date.UTC(year, number, 0)).getUTCDate();
  return Array.from({ length: count }, (_, index) => `${month}-${String(index + 1).padStart(2, "0")}`);
}

/** `2026-11-23` is `23 November`. */
export function dayText(day: string): string {
  return dayName.format(new Date(`${day}T00:00:00Z`));
}
