// The page of a cache's keys: a list by pattern and type, and the value of one key beside it.
import { useState } from "react";
import { Button } from "../../../console/parts/button.tsx";
import { Empty } from "../../../console/parts/layout.tsx";
import type { PageProps } from "../../../console/parts/page.tsx";
import { ResourceFrame } from "../../../console/parts/resource-detail.tsx";
import { cacheKind } from "./kind.ts";
import { KeyList } from "./keys-list.tsx";
import { KEY_TYPES, type KeysSearch } from "./keys-search.ts";
import { KeyValue } from "./keys-value.tsx";

export default function CacheKeysPage({ params: { id = "" }, ...rest }: PageProps<KeysSearch>) {
  const [isWaking, setWaking] = useState(false);
  return (
    <ResourceFrame kind={cacheKind} id={id}>
      {({ meta }) =>
        meta.sleep.state === "asleep" && !isWaking ? (
          <Empty
            icon={cacheKind.icon}
            title="The cache sleeps"
            text="Pilvi reads its keys as its own user does, which wakes it. The time awake counts as usage."
            action={
              <Button look="primary" onClick={() => setWaking(true)}>
                Wake it and show its keys
              </Button>
            }
          />
        ) : (
          <Browser id={id} isWaking={isWaking} {...rest} />
        )
      }
    </ResourceFrame>
  );
}

interface BrowserProps extends Omit<PageProps<KeysSearch>, "params"> {
  id: string;
  isWaking: boolean;
}

function Browser({ id, isWaking, search, setSearch }: BrowserProps) {
  const { match, type, key, encoding } = search;
  const select = (selected: { text: string; encoding: "utf8" | "base64" } | null) =>
    setSearch({ key: selected?.text, encoding: selected?.encoding === "base64" ? "base64" : undefined });
  return (
    <>
      <Filters key={match} search={search} setSearch={setSearch} />
      <div className="grid items-start gap-6 lg:grid-cols-2">
        <KeyList
          {...{ id, isWaking, match, type }}
          selected={key === undefined ? null : { text: key, encoding: encoding ?? "utf8" }}
          onSelect={select}
        />
        {key !== undefined && (
          <KeyValue
            key={`${encoding} ${key}`}
            {...{ id, isWaking }}
            name={{ text: key, encoding: encoding ?? "utf8" }}
            onClose={() => select(null)}
          />
        )}
      </div>
    </>
  );
}

function Filters({ search, setSearch }: Pick<BrowserProps, "search" | "setSearch">) {
  const [text, setText] = useState(search.match ?? "");
  return (
    <form
      role="search"
      className="mb-4 flex flex-wrap items-start gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        setSearch({ match: text || undefined });
      }}
    >
      <div className="grow sm:max-w-96">
        <input
          type="search"
          aria-label="Pattern of names"
          aria-describedby="pattern-help"
          placeholder="session:*"
          maxLength={1000}
          spellCheck={false}
          autoCapitalize="off"
          className="input w-full font-mono"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <p id="pattern-help" className="mt-1 mb-0 text-xs text-soft">
          <code>*</code> is any text, <code>?</code> any character, <code>[ab]</code> one of these.
        </p>
      </div>
      <select
        aria-label="Type of keys"
        className="input w-auto"
        value={search.type ?? ""}
        onChange={(event) => setSearch({ type: KEY_TYPES.find((type) => type === event.target.value) })}
      >
        <option value="">Any type</option>
        {KEY_TYPES.map((type) => (
          <option key={type} value={type}>
            {type}
          </option>
        ))}
      </select>
      <Button type="submit">Search</Button>
    </form>
  );
}
