// Whether changes appear by themselves, as a small word at the edge.
import { useLiveState } from "../parts/live.ts";

const NOTES = {
  connecting: ["bg-work pulse", "Connecting"],
  live: ["bg-good", "Live"],
  offline: ["bg-bad", "Offline"],
} as const;

export function LiveNote() {
  const [dot, word] = NOTES[useLiveState()];
  return (
    <span role="status" className="inline-flex items-center gap-1.5 px-2.5 text-xs text-soft">
      <span aria-hidden className={`size-1.5 rounded-full ${dot}`} />
      {word}
    </span>
  );
}

/** Says above the page that what it shows may be old. */
export function OfflineBanner() {
  if (useLiveState() !== "offline") return null;
  return (
    <p role="alert" className="m-0 border-b border-bad bg-bad-tint px-4 py-2 text-sm sm:px-8">
      Pilvi does not answer. The page shows what was last known, and goes on by itself when Pilvi is back.
    </p>
  );
}
