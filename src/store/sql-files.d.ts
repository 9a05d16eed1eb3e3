// Declares to the type checker that an imported SQL file is its text.
declare module "*.sql" {
  const text: string;
  export default text;
}
