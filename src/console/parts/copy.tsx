// Text that is copied with one click.
import { Check, Copy } from "lucide-react";
import { useState } from "react";
import { IconButton } from "./button.tsx";
import { notify } from "./toasts.tsx";

const SHOWN_MS = 1_500;

/** Copies a text; @param label what is copied, such as `password`. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      setTimeout(() => setCopied(false), SHOWN_MS);
    } catch {
      notify({ title: `The browser did not allow copying the ${label}.`, isError: true });
    }
  };
  return (
    <IconButton label={isCopied ? "Copied" : `Copy ${label}`} onClick={() => void copy()}>
      {isCopied ? <Check size={15} className="text-good" /> : <Copy size={15} />}
    </IconButton>
  );
}

/** Code with a button that copies it. @param shown what stands there in its place, without its secrets. */
export function Code({ text, shown = text, label }: { text: string; shown?: string; label: string }) {
  return (
    <div className="flex items-start gap-1 rounded-md border border-line bg-sunken py-1 pr-1 pl-3">
      {/* It scrolls by itself, so the keyboard must reach it. */}
      <pre
        tabIndex={0}
        aria-label={label}
        className="m-0 min-w-0 grow overflow-x-auto py-1.5 font-mono text-xs leading-5 whitespace-pre"
      >
        {shown}
      </pre>
      <CopyButton text={text} label={label} />
    </div>
  );
}
