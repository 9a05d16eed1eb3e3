// Fields of forms: label, control, description, and the faults that the API named.
import { type ComponentProps, type ReactNode, useId } from "react";

interface FrameProps {
  label: string;
  /** What the field means, below it. */
  note?: ReactNode;
  /** Sentences about what is wrong with the value. */
  faults?: readonly string[] | undefined;
}

/** The attributes that tie a control to its label, description and faults. */
interface Ties {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": boolean;
}

function Frame({ label, note, faults = [], children }: FrameProps & { children: (ties: Ties) => ReactNode }) {
  const id = useId();
  const isWrong = faults.length > 0;
  const described = [isWrong ? `${id}-faults` : "", note ? `${id}-note` : ""].filter((each) => each !== "");
  const ties = {
    id,
    "aria-describedby": described.length === 0 ? undefined : described.join(" "),
    "aria-invalid": isWrong,
  };
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={id} className="text-sm font-medium">
        {label}
      </label>
      {children(ties)}
      {isWrong && (
        <p id={`${id}-faults`} className="m-0 text-sm text-bad">
          {faults.join(" ")}
        </p>
      )}
      {note && (
        <p id={`${id}-note`} className="m-0 text-xs text-soft">
          {note}
        </p>
      )}
    </div>
  );
}

type TextProps = FrameProps & { value: string; onChange: (value: string) => void } & Omit<
    ComponentProps<"input">,
    "value" | "onChange"
  >;

export function TextField({ label, note, faults, value, onChange, className = "", ...rest }: TextProps) {
  return (
    <Frame label={label} note={note} faults={faults}>
      {(ties) => (
        <input
          type="text"
          {...rest}
          {...ties}
          className={`input ${className}`}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Frame>
  );
}

type TextAreaProps = FrameProps & { value: string; onChange: (value: string) => void } & Omit<
    ComponentProps<"textarea">,
    "value" | "onChange"
  >;

/** Text of several lines. */
export function TextAreaField({ label, note, faults, value, onChange, ...rest }: TextAreaProps) {
  return (
    <Frame label={label} note={note} faults={faults}>
      {(ties) => (
        <textarea
          {...rest}
          {...ties}
          className="input h-auto py-1.5 font-mono text-sm"
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Frame>
  );
}

export interface Option {
  value: string;
  label: string;
}

export function SelectField(
  props: FrameProps & { value: string; options: readonly Option[]; onChange: (value: string) => void },
) {
  const { label, note, faults, value, options, onChange } = props;
  return (
    <Frame label={label} note={note} faults={faults}>
      {(ties) => (
        <select {...ties} className="input" value={value} onChange={(event) => onChange(event.target.value)}>
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </Frame>
  );
}

/** A yes or no. */
export function CheckField(
  props: FrameProps & { isChecked: boolean; onChange: (isChecked: boolean) => void; isDisabled?: boolean },
) {
  const { label, note, faults = [], isChecked, onChange, isDisabled = false } = props;
  const id = useId();
  return (
    <div className="flex items-start gap-2">
      <input
        id={id}
        type="checkbox"
        className="mt-1 size-4 accent-accent"
        checked={isChecked}
        disabled={isDisabled}
        aria-describedby={`${id}-note`}
        onChange={(event) => onChange(event.target.checked)}
      />
      <div>
        <label htmlFor={id} className="text-sm font-medium">
          {label}
        </label>
        <div id={`${id}-note`}>
          {faults.length > 0 && <p className="m-0 text-sm text-bad">{faults.join(" ")}</p>}
          {note && <p className="m-0 text-xs text-soft">{note}</p>}
        </div>
      </div>
    </div>
  );
}
