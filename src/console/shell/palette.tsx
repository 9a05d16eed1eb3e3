// The command palette: every page, action and resource by a few letters of its name.
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, useMemo, useState } from "react";
import { kinds } from "../kinds.ts";
import { Modal } from "../parts/dialog.tsx";
import type { ConsoleResource } from "../parts/kind.ts";
import type { ResourceList } from "../parts/resources.ts";
import { type Destination, useActions, useNavigation } from "./navigation.ts";

const MAX_SHOWN = 12;

export default function Palette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const navigate = useNavigate();
  const all = useDestinations();
  const found = all.filter(({ label }) => matches(label, text)).slice(0, MAX_SHOWN);
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
      {found.length === 0 && <p className="mt-3 mb-0 text-soft">Nothing has this name.</p>}
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

/** Pages and actions, and the resources of the lists that were read already. */
function useDestinations(): Destination[] {
  const cache = useQueryClient();
  const pages = useNavigation().flatMap(({ destinations }) => destinations);
  const actions = useActions();
  const resources = useMemo(() => {
    return kinds.flatMap(({ name, path, icon }) => {
      const list = cache.getQueryData<ResourceList<ConsoleResource>>([name, "list"]);
      return (list?.items ?? []).map(({ id, attributes }) => ({
        to: `${path}/${id}`,
        label: attributes.name,
        icon,
      }));
    });
  }, [cache]);
  return [...pages, ...actions, ...resources];
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
