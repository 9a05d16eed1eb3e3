// A page of the console: its address, its typed search parameters, and its code, which is loaded when it is opened.
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { type ComponentType, lazy, useCallback } from "react";
import { loadPart } from "./load-part.ts";

/** The properties of a page's component. */
export interface PageProps<Search = unknown> {
  /** The variable parts of the address, such as `id`. */
  params: Record<string, string>;
  search: Search;
  /** Changes search parameters in place; undefined takes a parameter away. */
  setSearch(change: Partial<Search>): void;
}

/** The search parameters of an address, before a page has read them. */
export type RawSearch = Record<string, unknown>;

/** A page as the router takes it. */
export interface ConsolePage {
  /** Such as `/caches/$id`. */
  path: string;
  title: string;
  parseSearch(raw: RawSearch): object;
  component: ComponentType;
}

/** Declares a page. */
export function definePage<Search extends object = object>(options: {
  path: string;
  title: string;
  /** Takes what the page knows out of the address, and drops the rest. */
  parseSearch?: (raw: RawSearch) => Search;
  load: () => Promise<{ default: ComponentType<PageProps<Search>> }>;
}): ConsolePage {
  const { path, title, load, parseSearch = () => ({}) as Search } = options;
  const Content = lazy(() => loadPart(load));
  function Page() {
    const params = useParams({ strict: false }) as Record<string, string>;
    const search = parseSearch(useSearch({ strict: false }) as RawSearch);
    const navigate = useNavigate();
    const setSearch = useCallback(
      (change: Partial<Search>) =>
        void navigate({
          to: ".",
          search: (old: object) => ({ ...old, ...change }),
          replace: true,
          // The reader goes on where the choice was made.
          resetScroll: false,
        } as never),
      [navigate],
    );
    return <Content params={params} search={search} setSearch={setSearch} />;
  }
  return { path, title, parseSearch, component: Page };
}

/** A text parameter of an address; undefined when it is absent or no text. */
export function textIn(raw: RawSearch, name: string): string | undefined {
  const value = raw[name];
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}
