// The documents that answers about all kinds of resources consist of.

/** The members that identify every resource. */
export interface Identifier {
  id: string;
  type: string;
}

/** An answer with one resource, and with related resources where the request asked for them. */
export interface SingleDocument<Resource, Included = Identifier> {
  data: Resource;
  included?: Included[];
}

/** An answer with one page of resources, and with related resources where the request asked for them. */
export interface PageDocument<Resource, Included = Identifier> {
  data: Resource[];
  included?: Included[];
  /** Absolute; `prev` and `next` are absent where there is no such page. */
  links: { first: string; last: string; prev?: string; next?: string };
  meta: { current_page: number; last_page: number; per_page: number; total: number };
}
