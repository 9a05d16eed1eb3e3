// The editor of statements as a part of the page: a text area at first, the full editor once somebody writes.
import type { SQLNamespace } from "@codemirror/lang-sql";
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import type { StatementEditor } from "./editor.ts";
import { type Editor, PlainEditor } from "./plain-editor.ts";
import type { Protocol } from "./protocol.ts";

interface FieldProps {
  protocol: Protocol;
  schema: SQLNamespace | undefined;
  /** Gets the editor when it is there or another takes its place, and null when it is gone. */
  onReady: (editor: Editor | null) => void;
  onRun: () => void;
  onFocus: () => void;
}

export function EditorField({ protocol, schema, onReady, onRun, onFocus }: FieldProps) {
  const { host, area, editor, load } = useEditor({ onReady, onRun, onFocus });
  useEffect(() => editor?.complete(protocol, schema ?? {}), [editor, protocol, schema]);
  const runByKey = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    onRun();
  };
  return (
    <div>
      <textarea
        ref={area}
        aria-label="Statement"
        placeholder="select …"
        spellCheck={false}
        autoCapitalize="off"
        autoComplete="off"
        hidden={editor !== undefined}
        className="block field-sizing-content max-h-96 min-h-[calc(9rem+2px)] w-full resize-none rounded-md border border-edge bg-panel py-2.5 pr-1.5 pl-2.5 font-mono text-[13px] leading-[1.4] text-ink outline-offset-1 placeholder:text-soft focus:outline-2 focus:outline-accent"
        onFocus={() => {
          onFocus();
          void load();
        }}
        onKeyDown={runByKey}
      />
      <div ref={host} />
    </div>
  );
}

type Listeners = Pick<FieldProps, "onReady" | "onRun" | "onFocus">;

function useEditor({ onReady, onRun, onFocus }: Listeners) {
  const host = useRef<HTMLDivElement>(null);
  const area = useRef<HTMLTextAreaElement>(null);
  const plain = useRef<PlainEditor>(null);
  const isLoading = useRef(false);
  const [editor, setEditor] = useState<StatementEditor>();
  const listener = useRef({ onRun, onFocus });
  useEffect(() => {
    listener.current = { onRun, onFocus };
  });
  useEffect(() => {
    if (area.current === null) return;
    plain.current = new PlainEditor(area.current);
    onReady(plain.current);
    return () => onReady(null);
  }, [onReady]);
  useEffect(() => () => editor?.destroy(), [editor]);
  const load = async () => {
    if (isLoading.current || plain.current === null) return;
    isLoading.current = true;
    const actions = { run: () => listener.current.onRun(), focused: () => listener.current.onFocus() };
    try {
      const made = await openEditor(plain.current, { host, area }, actions);
      if (made === null) return;
      setEditor(made);
      onReady(made);
    } catch {
      // The text area goes on, and the next focus tries again.
      isLoading.current = false;
    }
  };
  return { host, area, editor, load };
}

interface Places {
  host: { current: HTMLDivElement | null };
  area: { current: HTMLTextAreaElement | null };
}

/** Has the full editor take the place of the text area. @returns null when the page is left meanwhile. */
async function openEditor(
  plain: PlainEditor,
  { host, area }: Places,
  listener: { run(): void; focused(): void },
): Promise<StatementEditor | null> {
  const { StatementEditor } = await import("./editor.ts");
  await plain.untilComposed();
  if (host.current === null || area.current === null) return null;
  const hadFocus = plain.hasFocus;
  const editor = new StatementEditor(host.current, listener, plain.state());
  area.current.hidden = true;
  if (hadFocus) editor.focus();
  return editor;
}
