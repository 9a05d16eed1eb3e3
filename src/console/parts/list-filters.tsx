// The search and the filters of a list, which live in the address, and how much of the list they show.
import { useState } from "react";

interface FilterProps {
  /** What the search looks for, such as `Search by name or id`. */
  label: string;
  search: { q: string | undefined };
  /** Undefined takes a choice out of the address. */
  setSearch(change: Record<string, string | undefined>): void;
  filters?: readonly ListFilter[];
}

/** A choice among the values that a member has in the list. */
interface ListFilter {
  /** Also its name in the address. */
  name: string;
  values: readonly string[];
  chosen: string | undefined;
}

export function ListFilters({ label, search, setSearch, filters = [] }: FilterProps) {
  const [text, setText] = useState(search.q ?? "");
  return (
    <div className="flex flex-wrap gap-2">
      <input
        type="search"
        aria-label={label}
        placeholder={label}
        className="input max-w-72"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setSearch({ q: event.target.value.trim() || undefined });
        }}
      />
      {filters.map((filter) => (
        <FilterSelect
          key={filter.name}
          {...filter}
          onChoose={(value) => setSearch({ [filter.name]: value })}
        />
      ))}
    </div>
  );
}

function FilterSelect(props: ListFilter & { onChoose: (value: string | undefined) => void }) {
  const { name, values, chosen, onChoose } = props;
  const options = [...new Set(values)].sort();
  if (options.length < 2 && chosen === undefined) return null;
  if (chosen !== undefined && !options.includes(chosen)) options.push(chosen);
  return (
    <select
      aria-label={`Filter by ${name}`}
      className="input w-auto"
      value={chosen ?? ""}
      onChange={(event) => onChoose(event.target.value || undefined)}
    >
      <option value="">Any {name}</option>
      {options.map((value) => (
        <option key={value} value={value}>
          {value}
        </option>
      ))}
    </select>
  );
}

/** How many items the list shows. */
export function ListCount({ text }: { text: string }) {
  return (
    <p role="status" className="mt-2 mb-1 text-xs text-soft">
      {text}
    </p>
  );
}

/** Such as `3 of 12`. @param read how many of `total` are there by now. */
export function countText(shown: number, total: number, read = total): string {
  if (read < total) return `${shown} shown, ${read} of ${total} read`;
  return shown === total ? `${total} in all` : `${shown} of ${total}`;
}

/** Stands in the place of a list in which nothing is left. */
export function NothingFits() {
  return <p className="py-6 text-soft">Nothing fits the search and the filters.</p>;
}
