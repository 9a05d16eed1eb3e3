// The text of a statement, of which long texts show the beginning until they are opened.

/** About three lines. */
const SHORT = 240;

export function Statement({ text, isCut }: { text: string | null; isCut: boolean }) {
  if (text === null) return <span className="text-soft">The text is not known.</span>;
  const whole = isCut ? `${text}…` : text;
  const code = "m-0 font-mono text-xs break-words whitespace-pre-wrap";
  if (whole.length <= SHORT) return <pre className={code}>{whole}</pre>;
  return (
    <details className="group">
      <summary className="cursor-pointer font-mono text-xs break-words">
        <span className="group-open:hidden">{whole.slice(0, SHORT)}… </span>
        <span className="link font-sans">
          <span className="group-open:hidden">Whole text</span>
          <span className="hidden group-open:inline">Beginning only</span>
        </span>
      </summary>
      <pre className={`mt-1 ${code}`}>{whole}</pre>
    </details>
  );
}
