// The editor of statements as a part of the page.
import type { SQLNamespace } from "@codemirror/lang-sql";
import { useEffect, useRef } from "react";
import { StatementEditor } from "./editor.ts";
import type { Protocol } from "./protocol.ts";

interface FieldProps {
  protocol: Protocol;
  schema: SQLNamespace | undefined;
  /** Gets the editor when it is there, and null when it is gone. */
  onReady: (editor: StatementEditor | null) => void;
  onRun: () => void;
  onFocus: () => void;
}

export function EditorField({ protocol, schema, onReady, onRun, onFocus }: FieldProps) {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<StatementEditor>(null);
  const listener = useRef({ onRun, onFocus });
  useEffect(() => {
    listener.current = { onRun, onFocus };
  });
  useEffect(() => {
    if (host.current === null) return;
    const made = new StatementEditor(host.current, {
      run: () => listener.current.onRun(),
      focused: () => listener.current.onFocus(),
    });
    editor.current = made;
    onReady(made);
    return () => {
      onReady(null);
      made.destroy();
    };
  }, [onReady]);
  useEffect(() => editor.current?.complete(protocol, schema ?? {}), [protocol, schema]);
  return <div ref={host} />;
}
