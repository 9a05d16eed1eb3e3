// The documents that all kinds of resources are answered in.

/** An answer with one resource. */
export interface SingleDocument<Resource> {
  data: Resource;
  included?: { id: string; type: string }[];
}

/** An answer with one page of resources. */
export interface PageDocument<Resource> {
  data: Resource[];
  /** Absolute; `prev` and `next` are absent where there is none. */
  links: { first: string; last: string; prev?: string; next?: string };
  meta: { current_page: number; last_page: number; per_page: number; total: number };
}
