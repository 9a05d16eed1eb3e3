// The parts that pages are made of: header, section, facts, and the states without content.
import type { LucideIcon } from "lucide-react";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useEffect } from "react";
import { PilviError } from "../../sdk/index.ts";
import { Button } from "./button.tsx";

/** A page with its heading; @param back the list that a detail page belongs to. */
export function PageFrame(props: {
  title: string;
  back?: { to: string; label: string };
  beside?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) {
  const { title, back, beside, actions, children } = props;
  useEffect(() => {
    document.title = `${title} · Pilvi`;
  }, [title]);
  return (
    <div className="mx-auto w-full max-w-5xl px-4 pt-5 pb-16 sm:px-8 sm:pt-7">
      <header className="mb-5 flex flex-wrap items-end gap-x-4 gap-y-3">
        <div className="min-w-0 grow">
          {back && (
            <Link to={back.to} className="text-sm text-soft no-underline hover:text-ink hover:underline">
              {back.label}
            </Link>
          )}
          <div className="flex flex-wrap items-baseline gap-x-4">
            <h1 className="m-0 text-xl font-semibold tracking-tight break-all">{title}</h1>
            {beside}
          </div>
        </div>
        {actions && <div className="flex flex-wrap gap-2">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

/** A part of a page under a heading of its own. */
export function Section(props: {
  title: string;
  note?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) {
  const { title, note, actions, children } = props;
  return (
    <section className="mb-8">
      <div className="mb-2 flex flex-wrap items-center gap-2 border-b border-line pb-1.5">
        <h2 className="m-0 grow text-base font-semibold">{title}</h2>
        {actions}
      </div>
      {note && <p className="mt-0 mb-3 max-w-prose text-sm text-soft">{note}</p>}
      {children}
    </section>
  );
}

/** Names with values, such as the region of a resource. */
export function Facts({ facts }: { facts: [name: string, value: ReactNode][] }) {
  return (
    <dl className="m-0 grid grid-cols-1 gap-x-8 gap-y-2 sm:grid-cols-2 lg:grid-cols-3">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt className="text-xs text-soft">{name}</dt>
          <dd className="m-0 break-words">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** What a list shows that has nothing to show. */
export function Empty(props: { icon?: LucideIcon; title: string; text: string; action?: ReactNode }) {
  const { icon: Icon, title, text, action } = props;
  return (
    <div className="flex flex-col items-start gap-2 rounded-lg border border-dashed border-edge p-6 sm:p-8">
      {Icon && <Icon size={22} aria-hidden className="text-accent" />}
      <p className="m-0 text-lg font-semibold">{title}</p>
      <p className="m-0 max-w-prose text-soft">{text}</p>
      {action && <div className="mt-2">{action}</div>}
    </div>
  );
}

/** Grey lines in the place of content that is being read. */
export function Loading({ lines = 4 }: { lines?: number }) {
  return (
    <div role="status" aria-label="Loading" className="flex flex-col gap-2.5 py-2">
      {Array.from({ length: lines }, (_, line) => (
        <span
          key={line}
          className={`pulse block h-4 rounded-sm bg-hover ${line % 3 === 2 ? "w-2/5" : "w-4/5"}`}
        />
      ))}
    </div>
  );
}

/** Why something could not be read, with another attempt. */
export function Failure({ error, retry }: { error: unknown; retry?: () => void }) {
  const id = error instanceof PilviError ? error.requestId : undefined;
  return (
    <div role="alert" className="rounded-lg border border-bad bg-bad-tint p-4">
      <p className="m-0 font-medium">{error instanceof Error ? error.message : String(error)}</p>
      {id !== undefined && <p className="mt-1 mb-0 font-mono text-xs text-soft">Request {id}</p>}
      {retry && (
        <div className="mt-3">
          <Button onClick={retry}>Try again</Button>
        </div>
      )}
    </div>
  );
}
