// The output of a program as a terminal would show it, which grows while the program runs.
import { useEffect, useRef } from "react";
import { type AnsiLook, lastLines, spansOf } from "./ansi.ts";

/** Drawing more would make the page slow; a reader looks at the end. */
const MAX_LINES = 1_000;
/** The end counts as reached this close to it. */
const END_PX = 40;

const LOOKS: Record<AnsiLook, string> = {
  plain: "",
  soft: "text-soft",
  good: "text-good",
  bad: "text-bad",
  work: "text-work",
  accent: "text-accent",
};

/** Follows its end, unless the reader has scrolled away from it. */
export function Output({ output, label }: { output: string; label: string }) {
  const box = useRef<HTMLPreElement>(null);
  const isAtEnd = useRef(true);
  useEffect(() => {
    if (isAtEnd.current && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  });
  const { text, left } = lastLines(output, MAX_LINES);
  return (
    <pre
      ref={box}
      // It scrolls by itself, so the keyboard must reach it.
      tabIndex={0}
      role="region"
      aria-label={label}
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < END_PX;
      }}
      className="mt-1 mb-3 max-h-96 overflow-auto rounded-md border border-line bg-sunken px-3 py-2 font-mono text-xs leading-5 break-all whitespace-pre-wrap"
    >
      {left > 0 && <span className="text-soft">{`${left} lines before are left out\n`}</span>}
      {spansOf(text).map(({ text: part, look, isBold }, index) => (
        // Spans have no name but their place.
        // oxlint-disable-next-line react/no-array-index-key
        <span key={index} className={`${LOOKS[look]} ${isBold ? "font-semibold" : ""}`}>
          {part}
        </span>
      ))}
    </pre>
  );
}
