// What `pilvi doctor` has to say about one thing.

/** `warn` means that Pilvi works with less than it could, `fail` that it does not work. */
export interface Finding {
  level: "ok" | "warn" | "fail";
  text: string;
  /** What to do about it, as one sentence. */
  advice?: string;
}

/** A thing that is as it should be. */
export function ok(text: string): Finding {
  return { level: "ok", text };
}

/** A thing that Pilvi can do without. */
export function warn(text: string, advice: string): Finding {
  return { level: "warn", text, advice };
}

/** A thing that keeps Pilvi from working. */
export function fail(text: string, advice: string): Finding {
  return { level: "fail", text, advice };
}
