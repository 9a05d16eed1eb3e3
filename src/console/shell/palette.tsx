// The command palette: every page, action and resource by a few letters of its name.
import { useQueries } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, useState } from "react";
import { kinds } from "../kinds.ts";
import { Modal } from "../parts/dialog.tsx";
import type { ConsoleResource } from "../parts/kind.ts";
import { listOptions, type ResourceList } from "../parts/resources.ts";
import { useAbilities } from "../parts/session.ts";
import { type Destination, useActions, useNavigation } from "./navigation.ts";

const MAX_SHOWN = 12;

export default function Palette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const navigate = useNavigate();
  const { destinations, isReading } = useDestinations();
  const found = destinations.filter(({ label }) => matches(label, text)).slice(0, MAX_SHOWN);
  const open = (destination: Destination | undefined) => {
    if (destination === undefined) return;
    onClose();
    void navigate({ to: destination.to });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) setAt((at + step + found.length) % Math.max(1, found.length));
    else if (event.key === "Enter") open(found[at]);
    else return;
    event.preventDefault();
  };
  return (
    <Modal title="Go to" isOpen onClose={onClose}>
      <input
        className="input"
        role="combobox"
        aria-expanded
        aria-controls="palette-list"
        aria-activedescendant={found[at] && `palette-${at}`}
        aria-label="A page, an action or a resource"
        placeholder="A page, an action or a resource"
        value={text}
        onKeyDown={onKeyDown}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
      />
      <ul id="palette-list" role="listbox" aria-label="Results" className="mt-2 mb-0 list-none p-0">
        {found.map((destination, index) => (
          <PaletteItem
            key={destination.to + destination.label}
            {...{ destination, index }}
            isActive={index === at}
            onOpen={() => open(destination)}
          />
        ))}
      </ul>
      {found.length === 0 && (
        <p className="mt-3 mb-0 text-soft">
          {isReading ? "The resources are being read…" : "Nothing has this name."}
        </p>
      )}
    </Modal>
  );
}

function PaletteItem(props: {
  destination: Destination;
  index: number;
  isActive: boolean;
  onOpen: () => void;
}) {
  const { destination, index, isActive, onOpen } = props;
  const Icon = destination.icon;
  return (
    // The keyboard stays in the field above, which names the active option.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events
    <li
      id={`palette-${index}`}
      role="option"
      tabIndex={-1}
      aria-selected={isActive}
      onClick={onOpen}
      className={`flex min-h-9 cursor-pointer items-center gap-2.5 rounded-md px-2.5 ${isActive ? "bg-tint" : "hover:bg-hover"}`}
    >
      <Icon size={15} aria-hidden className="text-soft" />
      {destination.label}
    </li>
  );
}

interface Destinations {
  destinations: Destination[];
  /** Whether resources may still be missing. */
  isReading: boolean;
}

/** Pages, actions and the resources of every kind, whose lists are read unless the console has them. */
function useDestinations(): Destinations {
  const can = useAbilities();
  const pages = useNavigation().flatMap(({ destinations }) => destinations);
  const actions = useActions();
  const resources = useQueries({
    // A session without an organization reads no resources.
    queries: kinds.map((kind) => ({ ...listOptions(kind), enabled: can(`${kind.name}:read`) })),
    combine: resourcesIn,
  });
  return { ...resources, destinations: [...pages, ...actions, ...resources.destinations] };
}

/** @param lists the answers in the order of the kinds. */
function resourcesIn(
  lists: { data: ResourceList<ConsoleResource> | undefined; isFetching: boolean }[],
): Destinations {
  const destinations = kinds.flatMap(({ path, icon }, index) =>
    (lists[index]?.data?.items ?? []).map(({ id, attributes }) => ({
      to: `${path}/${id}`,
      label: attributes.name,
      icon,
    })),
  );
  return { destinations, isReading: lists.some(({ isFetching }) => isFetching) };
}

/** Whether the letters stand in the label in their order. */
function matches(label: string, text: string): boolean {
  let from = 0;
  for (const letter of text.toLowerCase().replaceAll(" ", "")) {
    from = label.toLowerCase().indexOf(letter, from) + 1;
    if (from === 0) return false;
  }
  return true;
}
