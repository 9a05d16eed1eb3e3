// The regions in which a resource may be ordered.
import { z } from "zod";

export const regions = [
  "us-east-1",
  "us-east-2",
  "ca-central-1",
  "eu-central-1",
  "eu-west-1",
  "eu-west-2",
  "eu-west-3",
  "me-central-1",
  "ap-southeast-1",
  "ap-southeast-2",
  "ap-northeast-1",
] as const;

export type CloudRegion = (typeof regions)[number];

export const region = z.enum(regions).meta({
  id: "CloudRegion",
  description: "A label; one machine serves all regions.",
  example: "eu-central-1",
});
