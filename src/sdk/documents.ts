// The documents that all kinds of resources are answered in.

/** What every resource can be told by. */
export interface Identifier {
  id: string;
  type: string;
}

/** An answer with one resource, and with related ones where they were asked for. */
export interface SingleDocument<Resource, Included = Identifier> {
  data: Resource;
  included?: Included[];
}

/** An answer with one page of resources. */
export interface PageDocument<Resource> {
  data: Resource[];
  /** Absolute; `prev` and `next` are absent where there is none. */
  links: { first: string; last: string; prev?: string; next?: string };
  meta: { current_page: number; last_page: number; per_page: number; total: number };
}
