// The id of the edge's instance; no resource has an id of this form.

export const EDGE_ID = "edge";
