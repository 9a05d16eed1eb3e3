// A finding of `pilvi doctor` about one thing.

/** `warn` means that Pilvi works with less than it could, `fail` that it does not work. */
export interface Finding {
  level: "ok" | "warn" | "fail";
  text: string;
  /** The remedy, as one sentence. */
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

/**
 * A folder that the engines cannot reach, because of a closed folder on the way.
 * @param setting the variable that moves it.
 */
export function unreachable(text: string, closed: string, setting: string): Finding {
  return fail(
    `${text} cannot be reached by the users that instances run as, because of ${closed}`,
    `Run \`chmod o+x ${closed}\`, or set ${setting} to another folder.`,
  );
}

/** A thing that keeps Pilvi from working. */
export function fail(text: string, advice: string): Finding {
  return { level: "fail", text, advice };
}
