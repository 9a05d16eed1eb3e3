// A count of what all applications of a cluster keep together, since they share the memory that it takes.

export interface SharedCount {
  /** Of all applications. */
  count: number;
  max: number;
}
