// How to connect to a resource: address, credentials that are hidden until they are asked for, and snippets.
import { Eye, EyeOff } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Button } from "./button.tsx";
import { Choice } from "./choice.tsx";
import { Code, CopyButton } from "./copy.tsx";
import { Section } from "./layout.tsx";

export interface Snippet {
  label: string;
  text: string;
}

interface ConnectProps {
  title?: string;
  rows: { label: string; value: string; isSecret?: boolean }[];
  snippets: Snippet[];
  /** The secrets in rows and snippets; undefined when the session may not see them. */
  secret: string | undefined;
  actions?: ReactNode;
  /** Stands above the rows. */
  notice?: ReactNode;
}

const MASK = "••••••••";

export function Connect({ title = "Connect", rows, snippets, secret, actions, notice }: ConnectProps) {
  const [isShown, setShown] = useState(false);
  const masked = (text: string) => (isShown || secret === undefined ? text : text.replaceAll(secret, MASK));
  const Icon = isShown ? EyeOff : Eye;
  return (
    <Section
      title={title}
      note={secret === undefined && "Your role does not show credentials."}
      actions={
        <>
          {secret !== undefined && (
            <Button look="ghost" aria-pressed={isShown} onClick={() => setShown(!isShown)}>
              <Icon size={15} aria-hidden />
              {isShown ? "Hide the secrets" : "Show the secrets"}
            </Button>
          )}
          {actions}
        </>
      }
    >
      {notice}
      <dl className="m-0 mb-4 grid grid-cols-1 gap-x-8 sm:grid-cols-2">
        {rows.map(({ label, value }) => (
          <div key={label} className="flex items-center gap-2 border-b border-line py-1">
            <dt className="w-24 shrink-0 text-sm text-soft">{label}</dt>
            <dd className="m-0 min-w-0 grow font-mono text-sm break-all">{masked(value)}</dd>
            <dd className="m-0">
              <CopyButton text={value} label={label.toLowerCase()} />
            </dd>
          </div>
        ))}
      </dl>
      {secret !== undefined && <Snippets snippets={snippets} masked={masked} />}
    </Section>
  );
}

function Snippets({ snippets, masked }: { snippets: Snippet[]; masked: (text: string) => string }) {
  const [chosen, setChosen] = useState(snippets[0]?.label);
  const snippet = snippets.find(({ label }) => label === chosen) ?? snippets[0];
  if (snippet === undefined) return null;
  return (
    <div>
      <div className="mb-2">
        <Choice
          label="Client"
          options={snippets.map(({ label }) => ({ value: label, label }))}
          chosen={snippet.label}
          onChoose={setChosen}
        />
      </div>
      <Code label={`${snippet.label} snippet`} text={snippet.text} shown={masked(snippet.text)} />
    </div>
  );
}
