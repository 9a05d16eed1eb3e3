// The choices above the usage: the month and the kind.
import { ChevronLeft, ChevronRight } from "lucide-react";
import { IconButton } from "../../parts/button.tsx";
import { Choice } from "../../parts/choice.tsx";
import type { PageProps } from "../../parts/page.tsx";
import { kinds } from "../../kinds.ts";
import { keptMonths, monthText } from "./months.ts";
import { parseUsageSearch, USAGE_KINDS, type UsageSearch } from "./search.ts";

export function KindChoice({ search, setSearch }: Pick<PageProps<UsageSearch>, "search" | "setSearch">) {
  const options = [
    { value: "", label: "Everything" },
    ...kinds.filter(isCounted).map(({ name, plural }) => ({ value: name, label: plural })),
  ];
  return (
    <Choice
      label="Kind"
      options={options}
      chosen={search.kind ?? ""}
      onChoose={(kind) => setSearch({ kind: parseUsageSearch({ kind }).kind, resource: undefined })}
    />
  );
}

function isCounted({ name }: { name: string }): boolean {
  return USAGE_KINDS.some((kind) => kind === name);
}

export function MonthChoice({ month, onChoose }: { month: string; onChoose: (month: string) => void }) {
  const kept = keptMonths();
  const months = kept.includes(month) ? kept : [...kept, month];
  const at = months.indexOf(month);
  const [later, earlier] = [months[at - 1], months[at + 1]];
  return (
    <div className="flex items-center gap-1">
      <IconButton
        label="The month before"
        disabled={earlier === undefined}
        onClick={() => earlier && onChoose(earlier)}
      >
        <ChevronLeft size={16} />
      </IconButton>
      <select
        aria-label="Month"
        className="input w-auto"
        value={month}
        onChange={(event) => onChoose(event.target.value)}
      >
        {months.map((each) => (
          <option key={each} value={each}>
            {monthText(each)}
          </option>
        ))}
      </select>
      <IconButton
        label="The month after"
        disabled={later === undefined}
        onClick={() => later && onChoose(later)}
      >
        <ChevronRight size={16} />
      </IconButton>
    </div>
  );
}
