// Buttons, and links that look like them.
import { Link } from "@tanstack/react-router";
import type { ComponentProps, ReactNode } from "react";

const SHAPE =
  "inline-flex min-h-8 items-center justify-center gap-1.5 rounded-md border px-3 py-1 text-base font-medium whitespace-nowrap no-underline transition-colors disabled:opacity-60";

const LOOKS = {
  primary:
    "border-accent bg-accent text-on-accent hover:border-accent-hover hover:bg-accent-hover disabled:hover:bg-accent",
  plain: "border-line bg-panel text-ink hover:bg-hover",
  ghost: "border-transparent bg-transparent text-soft hover:bg-hover hover:text-ink",
  danger: "border-bad bg-panel text-bad hover:bg-bad-tint",
} as const;

export type Look = keyof typeof LOOKS;

/** The classes of a look, for elements of other libraries. */
export function buttonClass(look: Look = "plain"): string {
  return `${SHAPE} ${LOOKS[look]}`;
}

interface ButtonProps extends ComponentProps<"button"> {
  look?: Look;
  /** Whether what it started is under way; it can be pressed once. */
  isBusy?: boolean;
}

export function Button({ look = "plain", isBusy = false, className = "", children, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      disabled={rest.disabled === true || isBusy}
      aria-busy={isBusy}
      className={`${buttonClass(look)} ${className}`}
    >
      {children}
    </button>
  );
}

/** A link to another page of the console that looks like a button. */
export function ButtonLink({ to, look, children }: { to: string; look?: Look; children: ReactNode }) {
  return (
    <Link to={to} className={buttonClass(look)}>
      {children}
    </Link>
  );
}

/** A button that shows an icon alone; the label is for screen readers and as a tooltip. */
export function IconButton({ label, children, ...rest }: ComponentProps<"button"> & { label: string }) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      {...rest}
      className="inline-flex size-8 shrink-0 items-center justify-center rounded-md text-soft hover:bg-hover hover:text-ink"
    >
      {children}
    </button>
  );
}
