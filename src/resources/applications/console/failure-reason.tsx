// Why a deployment failed: a sentence, and below it the last lines of the output.

export function FailureReason({ text }: { text: string | null }) {
  if (text === null) return null;
  const [sentence = "", ...lines] = text.trimEnd().split("\n");
  const output = lines.join("\n").replace(/^\n+/, "");
  return (
    <div role="alert" className="mb-5 rounded-md border border-bad bg-bad-tint px-3 py-2">
      <p className="m-0 break-words">{sentence}</p>
      {output !== "" && (
        <pre
          // It scrolls by itself, so the keyboard must reach it.
          tabIndex={0}
          aria-label="Last lines of the output"
          className="mt-2 mb-0 max-h-64 overflow-auto font-mono text-xs leading-5 whitespace-pre"
        >
          {output}
        </pre>
      )}
    </div>
  );
}
