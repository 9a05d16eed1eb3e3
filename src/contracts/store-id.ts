// The id of the store's instance, which is also that of its archive; no resource has an id of this form.

export const STORE_ID = "store";
