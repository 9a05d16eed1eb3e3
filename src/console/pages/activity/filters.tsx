// The filters of activity, all of which live in the address.
import { Button } from "../../parts/button.tsx";
import { SelectField, TextField } from "../../parts/field.tsx";
import type { PageProps } from "../../parts/page.tsx";
import type { ActivitySearch } from "./search.ts";
import { ACTIONS, KINDS, nounOf, verbOf } from "./words.ts";

type Props = Pick<PageProps<ActivitySearch>, "search" | "setSearch">;

const NO_FILTER: ActivitySearch = {
  action: undefined,
  kind: undefined,
  resource: undefined,
  since: undefined,
  until: undefined,
};

export function ActivityFilters({ search, setSearch }: Props) {
  const set = (name: keyof ActivitySearch) => (value: string) =>
    setSearch({ [name]: value.trim() || undefined });
  const isFiltered = Object.values(search).some((value) => value !== undefined);
  return (
    <div className="mb-4 grid grid-cols-2 items-end gap-x-3 gap-y-2 sm:flex sm:flex-wrap">
      <SelectField
        label="Action"
        value={search.action ?? ""}
        onChange={set("action")}
        options={optionsOf("Any action", ACTIONS, verbOf, search.action)}
      />
      <SelectField
        label="Kind"
        value={search.kind ?? ""}
        onChange={set("kind")}
        options={optionsOf("Any kind", KINDS, nounOf, search.kind)}
      />
      <TextField
        label="Id of a resource"
        value={search.resource ?? ""}
        onChange={set("resource")}
        spellCheck={false}
        autoComplete="off"
        className="sm:min-w-44"
      />
      <TextField label="Since" type="date" value={search.since ?? ""} onChange={set("since")} />
      <TextField label="Until" type="date" value={search.until ?? ""} onChange={set("until")} />
      {isFiltered && <Button onClick={() => setSearch(NO_FILTER)}>Clear filters</Button>}
    </div>
  );
}

/** The address may have a value that is not in the list. */
function optionsOf(
  any: string,
  values: readonly string[],
  wordOf: (value: string) => string,
  chosen: string | undefined,
) {
  const all = chosen === undefined || values.includes(chosen) ? values : [...values, chosen];
  return [{ value: "", label: any }, ...all.map((value) => ({ value, label: wordOf(value) }))];
}
