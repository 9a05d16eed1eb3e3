// The rows of a cache's keys, of which only the visible part is drawn.
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef, useState } from "react";
import { bytesText } from "../../../console/parts/sizes.ts";
import type { CacheKey, CacheText } from "../../../sdk/index.ts";

/** What names a key: its bytes as text, or in base64. */
export type KeyName = Pick<CacheText, "text" | "encoding">;

interface KeyRowsProps {
  keys: readonly CacheKey[];
  selected: KeyName | null;
  onSelect(key: KeyName): void;
}

const ROW_PX = 45;
const OVERSCAN = 12;

export function KeyRows({ keys, selected, onSelect }: KeyRowsProps) {
  const list = useRef<HTMLUListElement>(null);
  const [offset, setOffset] = useState(0);
  useEffect(() => {
    const { top = 0 } = list.current?.getBoundingClientRect() ?? {};
    setOffset(top + window.scrollY);
  }, []);
  const rows = useWindowVirtualizer({
    count: keys.length,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN,
    scrollMargin: offset,
  });
  return (
    <ul
      ref={list}
      className="relative m-0 list-none border-t border-line p-0"
      style={{ height: rows.getTotalSize() }}
    >
      {rows.getVirtualItems().map(({ index, start }) => {
        const key = keys[index];
        return (
          key && (
            <li
              key={`${key.key.encoding} ${key.key.text}`}
              aria-setsize={keys.length}
              aria-posinset={index + 1}
              className="absolute inset-x-0 top-0 border-b border-line"
              style={{ height: ROW_PX, transform: `translateY(${start - offset}px)` }}
            >
              <KeyRow item={key} isSelected={isSame(key.key, selected)} onSelect={onSelect} />
            </li>
          )
        );
      })}
    </ul>
  );
}

function isSame(key: CacheText, selected: KeyName | null): boolean {
  return selected !== null && key.text === selected.text && key.encoding === selected.encoding;
}

function KeyRow(props: { item: CacheKey; isSelected: boolean; onSelect(key: KeyName): void }) {
  const { item, isSelected, onSelect } = props;
  const { key, type, ttl_ms: ttl, size_bytes: bytes } = item;
  return (
    <button
      type="button"
      aria-current={isSelected}
      // The whole name is needed to ask for the key.
      disabled={key.is_cut}
      title={key.is_cut ? "The name is too long to open the key here." : undefined}
      className="grid min-h-11 w-full grid-cols-[minmax(0,1fr)_4rem_4.5rem] items-center gap-3 px-1 text-left hover:bg-hover aria-[current=true]:bg-tint sm:grid-cols-[minmax(0,1fr)_4rem_6rem_4.5rem]"
      onClick={() => onSelect(key)}
    >
      <span className="truncate font-mono text-sm">{nameText(key)}</span>
      <span className="text-sm text-soft">{type}</span>
      <span className="hidden text-sm text-soft sm:block">{ttlText(ttl)}</span>
      <span className="text-right text-sm text-soft tabular-nums">
        {bytes === null ? "" : bytesText(bytes)}
      </span>
    </button>
  );
}

/** A name or value as a person reads it: bytes that are no text stand in base64. */
export function nameText({ text, encoding, is_cut: isCut }: CacheText): string {
  return `${encoding === "base64" ? `base64:${text}` : text}${isCut ? "…" : ""}`;
}

const SPANS: [unit: string, ms: number][] = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
];

export function ttlText(ms: number | null): string {
  if (ms === null) return "never";
  const [unit, size] = SPANS.find(([, each]) => ms >= each) ?? ["s", 1000];
  return `in ${Math.ceil(ms / size)} ${unit}`;
}
