// The value of a key: a part of it, more on request, and the deletion of the key.
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { X } from "lucide-react";
import { useState } from "react";
import { Button, IconButton } from "../../../console/parts/button.tsx";
import { client } from "../../../console/parts/client.ts";
import { Confirm } from "../../../console/parts/dialog.tsx";
import { Facts, Failure, Loading } from "../../../console/parts/layout.tsx";
import { useCan } from "../../../console/parts/session.ts";
import { bytesText } from "../../../console/parts/sizes.ts";
import { notify } from "../../../console/parts/toasts.tsx";
import type { CacheElement, CacheText, CacheValue } from "../../../sdk/index.ts";
import { keysKey } from "./keys-list.tsx";
import { nameText, ttlText } from "./keys-rows.tsx";

interface KeyValueProps {
  id: string;
  isWaking: boolean;
  name: Pick<CacheText, "text" | "encoding">;
  onClose(): void;
}

export function KeyValue({ id, isWaking, name, onClose }: KeyValueProps) {
  const canWrite = useCan("caches:write");
  const value = useInfiniteQuery({
    queryKey: ["caches", "key", id, name],
    queryFn: ({ pageParam, signal }) =>
      client.caches
        .keys(id)
        .get(name, { wake: isWaking, signal, ...(pageParam !== undefined && { cursor: pageParam }) }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ meta }) => meta.cursor ?? undefined,
  });
  const { data, error } = value;
  const latest = data?.pages.at(-1)?.data;
  return (
    <section aria-label="Value" className="rounded-lg border border-line bg-panel p-4 lg:sticky lg:top-4">
      <div className="mb-3 flex items-start gap-2">
        <h2 className="m-0 grow font-mono text-base font-semibold break-all">
          {nameText({ ...name, bytes: 0, is_cut: false })}
        </h2>
        {canWrite && latest && <KeyDeletion {...{ id, isWaking, name, onClose }} />}
        <IconButton label="Close the value" onClick={onClose}>
          <X size={16} aria-hidden />
        </IconButton>
      </div>
      {error && <Failure error={error} retry={() => void value.refetch()} />}
      {!data && !error && <Loading lines={4} />}
      {latest && (
        <>
          <ValueFacts value={latest} />
          <Elements type={latest.type} elements={data.pages.flatMap(numbered)} />
          {latest.is_too_large && (
            <p className="mt-2 mb-0 text-soft">The next elements are too large to be shown.</p>
          )}
          {value.hasNextPage && (
            <div className="mt-3">
              <Button isBusy={value.isFetchingNextPage} onClick={() => void value.fetchNextPage()}>
                More of it
              </Button>
            </div>
          )}
        </>
      )}
    </section>
  );
}

function ValueFacts({ value }: { value: CacheValue["data"] }) {
  const { type, ttl_ms: ttl, size_bytes: bytes, length } = value;
  return (
    <Facts
      facts={[
        ["Type", type],
        ["Expires", ttlText(ttl)],
        ["Memory", bytes === null ? "unknown" : bytesText(bytes)],
        ...(length === null
          ? []
          : ([[type === "string" ? "Bytes" : "Elements", length.toLocaleString()]] as [string, string][])),
      ]}
    />
  );
}

interface NumberedElement extends CacheElement {
  number: string;
}

/** Elements may be the same, so only their places differ. */
function numbered({ data: { elements } }: CacheValue, page: number): NumberedElement[] {
  return elements.map((element, place) => ({ ...element, number: `${page} ${place}` }));
}

const BOX = "mt-3 max-h-[28rem] overflow-auto rounded-md border border-line bg-sunken font-mono text-xs";

function Elements({ type, elements }: { type: string; elements: NumberedElement[] }) {
  if (elements.length === 0) return null;
  if (type === "string") {
    return (
      // A region that scrolls must be reachable by keyboard.
      <pre
        tabIndex={0}
        role="region"
        aria-label="Text of the value"
        className={`${BOX} mb-0 p-3 break-all whitespace-pre-wrap`}
      >
        {elements.map(({ value }) => nameText(value)).join("")}
      </pre>
    );
  }
  return (
    <div tabIndex={0} role="region" aria-label="Elements of the value" className={BOX}>
      <ol className="m-0 list-none p-0">
        {elements.map(({ number, id, field, value, score }) => (
          <li key={number} className="flex gap-3 border-b border-line px-3 py-1.5 last:border-0">
            <Beside text={id} />
            <Beside text={field && nameText(field)} />
            <Beside text={score} />
            <span className="min-w-0 break-all whitespace-pre-wrap">{nameText(value)}</span>
          </li>
        ))}
      </ol>
    </div>
  );
}

function Beside({ text }: { text: string | undefined }) {
  if (text === undefined) return null;
  return <span className="max-w-[45%] shrink-0 break-all text-soft">{text}</span>;
}

function KeyDeletion({ id, isWaking, name, onClose }: KeyValueProps) {
  const [isOpen, setOpen] = useState(false);
  const cache = useQueryClient();
  const deletion = useMutation({
    mutationFn: () => client.caches.keys(id).delete(name, { wake: isWaking }),
    onSuccess: async () => {
      onClose();
      notify({ title: `The key ${name.text} is deleted.` });
      await cache.invalidateQueries({ queryKey: keysKey(id) });
    },
  });
  return (
    <>
      <Button look="danger" onClick={() => setOpen(true)}>
        Delete
      </Button>
      <Confirm
        title={`Delete ${name.text}?`}
        text="The key and its value are gone at once, for all clients."
        verb="Delete"
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        onConfirm={async () => void (await deletion.mutateAsync())}
      />
    </>
  );
}
