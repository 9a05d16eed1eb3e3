// The form that makes a token.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { TokenResource } from "../../../sdk/index.ts";
import { Button } from "../../parts/button.tsx";
import { client } from "../../parts/client.ts";
import { faultsOf, FormFault } from "../../parts/faults.tsx";
import { CheckField, SelectField, TextField } from "../../parts/field.tsx";
import { Failure, Loading, Section } from "../../parts/layout.tsx";

const DAY_MS = 86_400_000;

const LIVES = [
  { value: "", label: "Never" },
  { value: "7", label: "In 7 days" },
  { value: "30", label: "In 30 days" },
  { value: "90", label: "In 90 days" },
  { value: "365", label: "In a year" },
];

const FIELDS = ["name", "abilities", "expires_at"];

export function NewToken(props: { queryKey: readonly string[]; onMade: (token: TokenResource) => void }) {
  const { queryKey, onMade } = props;
  const [name, setName] = useState("");
  const [days, setDays] = useState("90");
  const [chosen, setChosen] = useState<string[]>([]);
  const cache = useQueryClient();
  const making = useMutation({
    mutationFn: () =>
      client.tokens.create({
        name,
        abilities: chosen,
        ...(days !== "" && { expires_at: new Date(Date.now() + Number(days) * DAY_MS).toISOString() }),
      }),
    meta: { showsErrors: true },
    onSuccess: async ({ data }) => {
      onMade(data);
      setName("");
      scrollTo({ top: 0 });
      await cache.invalidateQueries({ queryKey });
    },
  });
  return (
    <Section title="New token">
      <form
        noValidate
        className="flex max-w-xl flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          making.mutate();
        }}
      >
        <FormFault error={making.error} fields={FIELDS} />
        <TextField
          label="Name"
          note="What it is for."
          value={name}
          onChange={setName}
          faults={faultsOf(making.error, "name")}
        />
        <SelectField label="Ends" value={days} options={LIVES} onChange={setDays} />
        <Abilities chosen={chosen} onChange={setChosen} faults={faultsOf(making.error, "abilities")} />
        <div>
          <Button type="submit" look="primary" isBusy={making.isPending}>
            Make the token
          </Button>
        </div>
      </form>
    </Section>
  );
}

function Abilities(props: {
  chosen: string[];
  onChange: (chosen: string[]) => void;
  faults: readonly string[] | undefined;
}) {
  const { chosen, onChange, faults = [] } = props;
  const { data, error, refetch } = useQuery({
    queryKey: ["tokens", "abilities"],
    queryFn: async () => (await client.tokens.abilities()).data,
  });
  return (
    <fieldset className="m-0 flex flex-col gap-2 border-0 p-0">
      <legend className="mb-2 p-0 text-sm font-medium">It may</legend>
      {faults.length > 0 && <p className="m-0 text-sm text-bad">{faults.join(" ")}</p>}
      {error && <Failure error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data
        ?.filter(({ attributes }) => attributes.is_grantable)
        .map(({ id, attributes }) => (
          <CheckField
            key={id}
            label={id === "*" ? "Everything" : id}
            note={attributes.description}
            isChecked={chosen.includes(id)}
            onChange={(isChecked) =>
              onChange(isChecked ? [...chosen, id] : chosen.filter((each) => each !== id))
            }
          />
        ))}
    </fieldset>
  );
}
