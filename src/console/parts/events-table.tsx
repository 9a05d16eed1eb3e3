// Events as lines: what happened, to what, and when.
import { Link } from "@tanstack/react-router";
import type { EventResource } from "../../sdk/index.ts";
import { Ago } from "./time.tsx";

/** The colours of events by their type; the others rest. */
export const EVENT_DOTS: Record<string, string> = {
  available: "bg-good",
  restored: "bg-good",
  restore_failed: "bg-bad",
  "backup.verified": "bg-good",
  "backup.verification_failed": "bg-bad",
  "backup.lagging": "bg-bad",
  failed: "bg-bad",
  deleting: "bg-work",
  created: "bg-accent",
  deleted: "bg-edge",
  unavailable: "bg-bad",
  crashed: "bg-bad",
};

/** @param pathOf the address of a resource in the console; undefined for a resource without a page. */
export function EventLines(props: {
  events: readonly EventResource[];
  pathOf?: (event: EventResource) => string | undefined;
}) {
  const { events, pathOf = () => undefined } = props;
  return (
    <ol className="m-0 list-none p-0">
      {events.map((event) => {
        const path = pathOf(event);
        const { type, message, occurred_at: at } = event.attributes;
        return (
          <li
            key={event.id}
            className="flex items-baseline gap-2.5 border-b border-line py-1.5 last:border-b-0"
          >
            <span
              aria-hidden
              className={`size-1.5 shrink-0 -translate-y-0.5 rounded-full ${EVENT_DOTS[type] ?? "bg-rest"}`}
            />
            <span className="min-w-0 grow break-words">
              {path === undefined ? (
                message
              ) : (
                <Link to={path} className="text-ink no-underline hover:underline">
                  {message}
                </Link>
              )}
            </span>
            <span className="shrink-0 text-xs text-soft">
              <Ago at={at} />
            </span>
          </li>
        );
      })}
    </ol>
  );
}
