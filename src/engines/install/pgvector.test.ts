// The statements that are left out of pgvector's script, and the engines that lack pgvector.
import { expect, test } from "bun:test";
import { fitsProcessor, lacksVector, withoutIvfflat } from "./pgvector.ts";

test("statements about IVFFlat are left out, and all others are as they were", () => {
  const hnsw = `CREATE ACCESS METHOD hnsw TYPE INDEX HANDLER hnswhandler;
CREATE OPERATOR CLASS vector_l2_ops
	FOR TYPE vector USING hnsw AS
	OPERATOR 1 <-> (vector, vector) FOR ORDER BY float_ops;
`;
  const ivfflat = `CREATE ACCESS METHOD ivfflat TYPE INDEX HANDLER ivfflathandler;
COMMENT ON ACCESS METHOD ivfflat IS 'ivfflat index access method';
CREATE OPERATOR CLASS vector_ops
	DEFAULT FOR TYPE vector USING ivfflat AS
	OPERATOR 1 <-> (vector, vector) FOR ORDER BY float_ops;
`;
  expect(withoutIvfflat(hnsw + ivfflat + hnsw).replaceAll(/\n{2,}/g, "\n")).toBe(hnsw + hnsw);
});

test("a failed attempt to add pgvector is repeated on request only", () => {
  const fits = fitsProcessor();
  expect(lacksVector({ version: "18.4" }, false)).toBe(fits);
  expect(lacksVector({ version: "18.4", vector: "failed" }, false)).toBe(false);
  expect(lacksVector({ version: "18.4", vector: "failed" }, true)).toBe(fits);
  expect(lacksVector({ version: "18.4", vector: "0.8.5" }, true)).toBe(false);
  expect(lacksVector({ version: "17.10" }, true)).toBe(fits);
  expect(lacksVector({ version: "15.18" }, true)).toBe(false);
});
