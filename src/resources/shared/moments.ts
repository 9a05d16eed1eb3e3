// Times in SQL as answers show them.

/** The SQL of a time in UTC with microseconds, ISO 8601. @param column a constant of the source. */
export function momentSql(column: string): string {
  return `to_char(${column} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
}
