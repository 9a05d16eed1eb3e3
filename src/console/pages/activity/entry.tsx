// An activity: a sentence with its actor and what was acted on, and on request all that is known of it.
import { Link } from "@tanstack/react-router";
import { ChevronRight } from "lucide-react";
import type { ActivityResource } from "../../../sdk/index.ts";
import { Button } from "../../parts/button.tsx";
import { Facts } from "../../parts/layout.tsx";
import { Ago, Moment } from "../../parts/time.tsx";
import { isWhole, nounOf, verbOf } from "./words.ts";

/** A resource that is still there. */
export interface KnownResource {
  name: string;
  path: string;
}

interface EntryProps {
  activity: ActivityResource;
  /** Undefined for what is deleted or has no page. */
  resource: KnownResource | undefined;
  /** Shows the activity on this resource alone. */
  onOnlyThis: () => void;
}

export function ActivityEntry({ activity, resource, onOnlyThis }: EntryProps) {
  const { address, occurred_at: at } = activity.attributes;
  return (
    <li className="border-b border-line">
      <details className="group">
        <summary className="flex cursor-pointer flex-wrap items-baseline gap-x-2 gap-y-0.5 py-2 hover:bg-hover sm:gap-x-4">
          <ChevronRight
            size={14}
            aria-hidden
            className="shrink-0 translate-y-0.5 text-soft group-open:rotate-90"
          />
          <span className="min-w-0 flex-1 break-words">
            <Sentence {...{ activity, resource }} />
          </span>
          <span className="flex basis-full items-baseline gap-4 pl-5.5 text-xs text-soft sm:basis-auto sm:pl-0">
            <span className="font-mono">{address ?? "unknown address"}</span>
            <span className="sm:w-28 sm:text-right">
              <Ago at={at} />
            </span>
          </span>
        </summary>
        <Details {...{ activity, resource, onOnlyThis }} />
      </details>
    </li>
  );
}

function Sentence({ activity, resource }: Omit<EntryProps, "onOnlyThis">) {
  const { action, kind, actor, details } = activity.attributes;
  const subject = <span className="font-medium">{actorText(actor)}</span>;
  if (!isWhole(action)) {
    return (
      <>
        {subject} {verbOf(action)} the {nounOf(kind)}{" "}
        <span className="font-medium">{nameOf(activity, resource)}</span>
      </>
    );
  }
  const { email, attempts } = details;
  return (
    <>
      {subject} {verbOf(action)}
      {typeof email === "string" && (
        <>
          {" "}
          as <span className="font-medium">{email}</span>
        </>
      )}
      {typeof attempts === "number" && attempts > 1 && `, ${attempts} times`}
    </>
  );
}

function Details({ activity, resource, onOnlyThis }: EntryProps) {
  const { actor, address, occurred_at: at, resource_id: id, details } = activity.attributes;
  return (
    <div className="mb-3 rounded-md border border-line bg-sunken p-3">
      <Facts
        facts={[
          ["Time", <Moment key="time" at={at} />],
          ["By", actor === null ? "not known" : `the ${actor.type} ${actor.name ?? actor.id}`],
          ["From", address ?? "not known"],
          ["On", <Code key="on" text={id} />],
          ["Request", <Code key="request" text={activity.meta.request_id ?? "not recorded"} />],
        ]}
      />
      {Object.keys(details).length > 0 && (
        <>
          <p className="mt-3 mb-1 text-xs text-soft">Parameters</p>
          {/* It scrolls by itself, so the keyboard must reach it. */}
          <pre
            tabIndex={0}
            aria-label="Parameters"
            className="m-0 overflow-x-auto font-mono text-xs leading-5"
          >
            {JSON.stringify(details, null, 2)}
          </pre>
        </>
      )}
      <div className="mt-3 flex flex-wrap items-center gap-3">
        <Button onClick={onOnlyThis}>Only this resource</Button>
        {resource !== undefined && (
          <Link to={resource.path} className="link">
            Open {resource.name}
          </Link>
        )}
      </div>
    </div>
  );
}

function Code({ text }: { text: string }) {
  return <code className="font-mono text-xs break-all">{text}</code>;
}

function actorText(actor: ActivityResource["attributes"]["actor"]): string {
  if (actor === null) return "Somebody";
  return actor.type === "token" ? `Token ${actor.name ?? actor.id}` : (actor.name ?? actor.id);
}

/** The name that the request gave, the present name, or the id. */
function nameOf({ attributes }: ActivityResource, resource: KnownResource | undefined): string {
  const { details, resource_id: id } = attributes;
  const given = details["name"] ?? details["email"];
  return typeof given === "string" ? given : (resource?.name ?? id);
}
