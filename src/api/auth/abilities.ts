// All abilities, each with a sentence that describes it, and the abilities of each member's role.

/** The role of a member in an organization. */
export const ROLES = ["owner", "admin", "developer", "viewer"] as const;
export type Role = (typeof ROLES)[number];

/** An ability of a token or a session for resources of a kind, such as `caches:credentials`. */
export type Ability = `${string}:${"read" | "write" | "credentials"}`;

/** An ability as the API lists it. */
export interface AbilityText {
  name: string;
  /** A sentence. */
  description: string;
}

/** Abilities that belong to no kind of resource. */
const SHARED: readonly AbilityText[] = [
  { name: "metrics:read", description: "Read the metrics of the organization." },
  { name: "usage:read", description: "Read what the organization uses." },
  { name: "activity:read", description: "Read who changed what in the organization, from where and when." },
  { name: "members:read", description: "List the members of the organization and the open invitations." },
  { name: "members:write", description: "Invite members, change their roles, and remove them." },
  { name: "tokens:read", description: "List the tokens of the organization." },
  { name: "tokens:write", description: "Create and revoke tokens." },
];

/** @param kinds the plural nouns of all resource kinds, such as `caches`. */
export function allAbilities(kinds: readonly string[]): AbilityText[] {
  return [
    { name: "*", description: "Everything, with the abilities of later releases too." },
    ...kinds.flatMap((kind) => [
      { name: `${kind}:read`, description: `List and read ${kind}, without credentials.` },
      { name: `${kind}:write`, description: `Create, change, suspend and delete ${kind}.` },
      { name: `${kind}:credentials`, description: `See the credentials of ${kind}.` },
    ]),
    ...SHARED,
  ];
}

/** The abilities that are not known; empty when all are fine. @param kinds as in `allAbilities`. */
export function unknownAbilities(abilities: readonly string[], kinds: readonly string[]): string[] {
  const known = new Set(allAbilities(kinds).map(({ name }) => name));
  return abilities.filter((ability) => !known.has(ability));
}

/** The abilities of a member's session. A developer sees and makes tokens of their own only. */
export function abilitiesOf(role: Role, kinds: readonly string[]): string[] {
  switch (role) {
    case "owner":
    case "admin":
      return ["*"];
    case "developer":
      return [
        ...kinds.flatMap((kind) => [`${kind}:read`, `${kind}:write`, `${kind}:credentials`]),
        "metrics:read",
        "usage:read",
        "members:read",
        "tokens:read",
        "tokens:write",
      ];
    case "viewer":
      return [...kinds.map((kind) => `${kind}:read`), "usage:read", "members:read"];
  }
}
