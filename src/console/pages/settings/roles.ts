// The roles that a member may have, with what they mean.
import type { Role } from "../../../sdk/index.ts";

export const ROLES: readonly Role[] = ["owner", "admin", "developer", "viewer"];

export const ROLE_OPTIONS: readonly { value: Role; label: string }[] = [
  { value: "viewer", label: "Viewer: sees resources, without credentials" },
  { value: "developer", label: "Developer: makes, changes and uses resources" },
  { value: "admin", label: "Admin: everything but the organization and its owners" },
  { value: "owner", label: "Owner: everything" },
];
