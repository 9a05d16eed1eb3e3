// A choice of one among a few short options, all of which are in sight.

export function Choice<Value extends string>(props: {
  label: string;
  options: readonly { value: Value; label: string; title?: string }[];
  chosen: Value | undefined;
  onChoose: (value: Value) => void;
}) {
  const { label, options, chosen, onChoose } = props;
  return (
    <div role="group" aria-label={label} className="flex flex-wrap gap-1">
      {options.map(({ value, label: text, title }) => (
        <button
          key={value}
          type="button"
          title={title}
          aria-pressed={value === chosen}
          onClick={() => onChoose(value)}
          className="min-h-7 rounded-md px-2.5 text-sm text-soft hover:bg-hover aria-pressed:bg-tint aria-pressed:text-ink"
        >
          {text}
        </button>
      ))}
    </div>
  );
}
